#pragma once

#include <cstdint>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// What was found when the same rows were computed in several ways and their bits compared.
struct parity_verdict {
  /// The most rows in one tensor batch that all came out as each does alone; 1: one by one. 0: not even that.
  std::uint32_t width = 0;
  /// A row whose prefix was restored from a snapshot came out as the one that computed it.
  bool restores = false;
  std::string why;  ///< The first difference; empty where there was none.
};

/// No wider batches are looked at.
inline constexpr std::uint32_t widest_checked = 16;

/// Compares token ids and log probabilities, to the bit: a prefix computed and restored, and rows alone with
/// all rows at once (widest_checked at most) in batches of 1, 2, 4, 8 and all of them. Costs about one prompt
/// of 600 tokens, and for each row at each width nine tokens of a prompt and four of an answer. No row may be
/// open.
///
/// Errors: those of the engine; invalid_argument if its context is too short for any such prompt.
[[nodiscard]] result<parity_verdict> check_parity(step_engine& engine);

}  // namespace evalcore::engine
