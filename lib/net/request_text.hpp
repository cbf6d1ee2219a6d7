#pragma once

#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::net {

/// The bytes that go on the wire: request line, headers, body. Errors: invalid_argument for a target or
/// header that would break the framing (named, its value never shown), unsupported for a method whose
/// answers this client does not read.
[[nodiscard]] result<std::string> request_text(const url& origin, const http_request& request);

}  // namespace evalcore::net
