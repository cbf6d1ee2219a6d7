#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evalcore/engine/llama.hpp>

namespace evalcore::engine {

/// Prompts are cut at multiples of this, so that each token is computed in the same company whatever was
/// restored.
inline constexpr std::uint32_t grid = 64;
/// The most rows of a chunk that attention does not compute in tiles, so that it does not matter where the
/// chunk begins.
inline constexpr std::uint32_t untiled = grid - 1;
/// Tokens of prompts that one step computes at most, so that rows that decode are not held up.
inline constexpr std::uint32_t prompt_tokens_a_step = 256;

/// What a row has for the next step.
struct row_need {
  std::int32_t sequence = 0;
  bool decodes = false;        ///< One token.
  std::uint32_t feeds = 0;     ///< Else: tokens up to its next cut or the end of its prompt or continuation.
  std::uint32_t chunk = grid;  ///< The most of them in one tensor batch of a canonical evaluation.
};

/// Some tokens of one row in a tensor batch.
struct row_chunk {
  std::size_t row = 0;  ///< Index among the needs.
  std::uint32_t tokens = 0;
};

/// The tensor batches of one step, in order.
struct step_plan {
  std::vector<row_chunk> chunks;
  std::vector<std::size_t> ends;  ///< Where each batch ends among the chunks.

  [[nodiscard]] std::span<const row_chunk> batch(std::size_t index) const;
};

/// Plans a step for rows that are given the oldest first. `parity`: rows that decode go together, `max_width`
/// at most and as far as their sequences follow each other (the library would part them elsewhere); each
/// chunk of a prompt goes alone. `fast`: all that fits goes together, but no more than `grid` tokens of
/// prompts.
void plan_step(std::span<const row_need> needs, evaluation mode, std::uint32_t max_width, step_plan& plan);

}  // namespace evalcore::engine
