#pragma once

#include <optional>
#include <string>
#include <utility>

#include <evalcore/c/reply.h>
#include <evalcore/chat/reply.hpp>

#include "handle.hpp"

struct evc_reply : evalcore::capi::handle<evc_reply> {
  static constexpr const char* word = "evc_reply";

  explicit evc_reply(evalcore::chat::reply reply) : what(std::move(reply)) {}

  evalcore::chat::reply what;
  // Written when they are asked for first.
  mutable std::optional<std::string> calls_text;
  mutable std::optional<std::string> whole_text;
};
