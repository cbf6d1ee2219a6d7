#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/net/url.hpp>

#include "backend/access.hpp"

namespace evalcore::backend {

/// A server that speaks one of the chat APIs, and what opens it.
struct endpoint {
  net::url at;                                               ///< `path` is what stands before /v1.
  std::shared_ptr<const access> opened;                      ///< Null: nothing but the URL.
  std::vector<std::pair<std::string, std::string>> headers;  ///< Of the API, in every request.

  /// For messages: never with a secret.
  [[nodiscard]] std::string name() const { return at.origin() + at.path; }
  /// `path` begins with '/', for example /v1/models.
  [[nodiscard]] net::http_request get(std::string_view path) const;
  [[nodiscard]] net::http_request post(std::string_view path, std::string body) const;
  /// Takes the secrets out of what a server said.
  [[nodiscard]] error without_secrets(error failure) const;
  [[nodiscard]] std::string without_secrets(std::string said) const;
};

/// `base_url` with or without /v1. Errors: invalid_argument.
[[nodiscard]] result<endpoint> read_endpoint(std::string_view base_url);

}  // namespace evalcore::backend
