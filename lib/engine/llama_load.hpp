#pragma once

#include <atomic>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/llama.hpp>

#include "engine/llama_handles.hpp"

namespace evalcore::engine {

/// Rows and snapshots that share the memory of a `fast` context are sequences of it.
inline constexpr std::uint32_t shared_snapshots = 32;

struct loaded_model {
  model_handle model;
  context_handle context;
  traits about;
};

/// Whether the defaults that the library gives are where this build looks for them. A library of another
/// version may report the same version and place a field elsewhere.
[[nodiscard]] bool layout_agrees(const llama_context_params& defaults);

/// The model and a context for it, which stops computing when `stop` is true. Errors: those of open_llama().
[[nodiscard]] result<loaded_model> load_llama(const llama_options& options, std::atomic<bool>& stop);

}  // namespace evalcore::engine
