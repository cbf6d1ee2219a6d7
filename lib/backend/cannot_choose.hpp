#pragma once

#include <evalcore/base/error.hpp>

namespace evalcore::backend {

/// What a backend says that only generates text.
inline error cannot_score_choices() {
  return fail(
      errc::unsupported, stage::send,
      "this backend only generates text: choices are scored by the embedded engine (name its model with "
      "--model FILE.gguf) and by a server that returns the logprobs of a prompt");
}

}  // namespace evalcore::backend
