#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/c/reply.h>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/chat/reply.hpp>

#include "handle.hpp"

struct evc_reply : evalcore::capi::handle<evc_reply> {
  static constexpr const char* word = "evc_reply";

  explicit evc_reply(evalcore::chat::reply reply, std::vector<evalcore::chat::loglikelihood> of_scores = {})
      : what(std::move(reply)), scores(std::move(of_scores)) {}

  evalcore::chat::reply what;
  std::vector<evalcore::chat::loglikelihood> scores;
  // Written when they are asked for first.
  mutable std::optional<std::string> calls_text;
  mutable std::optional<std::string> whole_text;
};
