#pragma once

#include <evalcore/base/error.hpp>

namespace evalcore::backend {

/// What a backend says that only generates text.
inline error cannot_score_choices() {
  return fail(errc::unsupported, stage::send,
              "choices are scored by the embedded engine alone: name its model with --model FILE.gguf");
}

}  // namespace evalcore::backend
