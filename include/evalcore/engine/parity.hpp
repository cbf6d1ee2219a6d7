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
/// all rows at once (widest_checked at most), in batches that shrink from all of them to two as rows end.
/// Where that differs, again in batches of at most 1, 2, 4 and 8. Of an engine that tells no log
/// probabilities the tokens count. Costs about one prompt of 600 tokens, nine tokens of a prompt for each
/// row, alone and in each round, and 70 tokens of answers for 16 rows. No row may be open.
///
/// What cannot be checked (a context too short for such prompts, rows that the engine refuses) counts as
/// different: `width` 0, not restored. Errors: faults of the engine.
[[nodiscard]] result<parity_verdict> check_parity(step_engine& engine);

/// What a verdict costs, for a person, where `rows` requests were to share a batch on that engine. Empty:
/// nothing.
[[nodiscard]] std::string note_of(const parity_verdict& verdict, const traits& engine, std::uint32_t rows);

}  // namespace evalcore::engine
