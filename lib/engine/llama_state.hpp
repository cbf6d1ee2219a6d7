#pragma once

#include <llama.h>

#include <cstdint>

#include <evalcore/base/result.hpp>

namespace evalcore::engine {

/// Bytes that a context holds of one sequence.
struct state_size {
  std::uint64_t empty = 0;    ///< Without tokens.
  std::uint64_t a_token = 0;  ///< What each token adds; above 0.
};

/// Computes two tokens to see it, and leaves the context empty. Errors: unsupported for a model that keeps
/// nothing of the tokens before; backend_fault.
[[nodiscard]] result<state_size> measure_state(llama_context* context);

}  // namespace evalcore::engine
