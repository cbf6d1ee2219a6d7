#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// What an answer may depend on besides its request.
enum class evaluation : std::uint8_t {
  /// On nothing: prompts are computed on a fixed grid of 64 tokens, rows share no memory, and a prefix is
  /// reused only at a point of the grid. check_parity() tells up to which width that holds on a model.
  parity,
  /// On the rows beside it and on what was cached, by a rounding error that may change a token: one memory
  /// for all rows, prefixes shared anywhere, prompts packed together.
  fast,
};

/// More rows than this are not opened at once.
inline constexpr std::uint32_t most_llama_rows = 64;

struct llama_options {
  std::string model_path;  ///< A GGUF file; of a model in parts, the first.
  evaluation mode = evaluation::parity;
  /// Rows open at once, 1 to most_llama_rows. Each has memory of its own size set aside.
  std::uint32_t max_rows = 4;
  /// Present: of max_rows only as many (traits::max_rows tells) as there is free memory for beside prefixes
  /// that are kept by these options, at least one.
  std::optional<prefix_cache_options> fit_beside;
  /// Of one row, prompt and answer together; at most what the model was trained for, which is taken if this
  /// is more.
  std::uint32_t context_tokens = 4096;
  /// Compute threads, at least 1. With more than one, `parity` holds for rows that are computed one by one
  /// only.
  std::uint32_t threads = 1;
};

/// A GGUF model in this process, run by llama.cpp.
///
/// Errors: unsupported in a build without llama.cpp, for a library other than the one compiled against, and
/// for models that are not decoders with attention; not_found; invalid_argument (an option out of its range,
/// a file that is no model); no_memory (with fit_beside also where one row does not fit).
[[nodiscard]] result<std::unique_ptr<step_engine>> open_llama(const llama_options& options);

}  // namespace evalcore::engine
