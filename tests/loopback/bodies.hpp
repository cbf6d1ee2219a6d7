#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

#include "loopback/fault_server.hpp"

namespace evalcore::test {

/// The bodies of what was posted to a path, in the order of its coming.
inline std::vector<json::value> bodies_at(const fault_server& of, std::string_view path) {
  const auto begin = "POST " + std::string(path) + " ";
  std::vector<json::value> bodies;
  for (const auto& request : of.requests()) {
    if (request.starts_with(begin))
      bodies.push_back(*json::parse(request.substr(request.find("\r\n\r\n") + 4)));
  }
  return bodies;
}

}  // namespace evalcore::test
