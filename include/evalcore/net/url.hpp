#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

namespace evalcore::net {

/// An http or https URL, cut into what a client needs. User info, fragments and other schemes are refused.
struct url {
  bool tls = false;
  std::string host;  ///< Without brackets; lower case.
  std::uint16_t port = 80;
  std::string path;  ///< Begins with '/' or is empty; no trailing '/'.
  std::string query;

  /// host:port, with brackets around an IPv6 address: the name of the server in messages.
  [[nodiscard]] std::string host_and_port() const;
  /// scheme://host:port, the unit across which no credential travels.
  [[nodiscard]] std::string origin() const;
};

/// Errors: invalid_argument, with a message that does not repeat a password.
[[nodiscard]] result<url> parse_url(std::string_view text);

}  // namespace evalcore::net
