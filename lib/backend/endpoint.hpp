#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/net/url.hpp>

namespace evalcore::backend {

/// A server that speaks OpenAI's API, and what opens it.
struct endpoint {
  net::url at;         ///< `path` is what stands before /v1.
  std::string secret;  ///< The API key; empty: none.

  /// For messages: never with the key.
  [[nodiscard]] std::string name() const { return at.origin() + at.path; }
  /// `path` begins with '/', for example /v1/models.
  [[nodiscard]] net::http_request get(std::string_view path) const;
  [[nodiscard]] net::http_request post(std::string_view path, std::string body) const;
  /// Takes the key out of what a server said.
  [[nodiscard]] error without_secret(error failure) const;
};

/// `base_url` with or without /v1. Errors: invalid_argument.
[[nodiscard]] result<endpoint> read_endpoint(std::string_view base_url);

/// The key that the environment variable `variable` holds, blanks around it taken off.
/// Errors: invalid_argument, naming the variable and never its value.
[[nodiscard]] result<std::string> read_api_key(const std::string& variable);

/// How long a server asks its client to wait: retry-after-ms, or Retry-After in seconds or as a date.
/// `now` is the time of day. Absent when it does not ask or asks in no known form.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(const net::http_head& head,
                                                                   std::chrono::system_clock::time_point now);

}  // namespace evalcore::backend
