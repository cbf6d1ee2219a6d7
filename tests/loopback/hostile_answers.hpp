#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/errc.hpp>

#include "loopback/fault_server.hpp"

namespace evalcore::test {

/// What a broken or hostile server answers to a chat request, and how that is to end.
struct hostile_answer {
  std::string name;
  bool streamed = false;  ///< The request asks for a stream.
  script acts;
  /// Empty: a reply comes of it, which says what was wrong with its bytes.
  std::optional<errc> expected = errc::bad_reply;
};

/// Made anew by each call; the largest holds a few hundred kilobytes.
[[nodiscard]] std::vector<hostile_answer> hostile_answers();

/// The answer to GET /v1/models of a server with one model.
[[nodiscard]] std::string models_answer();

}  // namespace evalcore::test
