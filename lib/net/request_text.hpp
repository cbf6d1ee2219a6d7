#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::net {

/// The headers that every request to this origin begins with, as bytes.
[[nodiscard]] std::string headers_of(const url& origin);

/// The bytes that go on the wire: request line, `common` (see headers_of()), headers, body, in the memory of
/// the body where it has room for the rest. Errors: invalid_argument for a target or header that would break
/// the framing (named, its value never shown), unsupported for a method whose answers this client does not
/// read.
[[nodiscard]] result<std::string> request_text(std::string_view common, http_request request);

}  // namespace evalcore::net
