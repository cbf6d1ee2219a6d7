#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// A row to be run by run_rows().
struct planned_row {
  row_request request;
  std::uint32_t leaves_after = 0;  ///< Tokens of its answer; 0: it stays for all of them.
};

/// A row that answers greedily, with the log probabilities of its tokens.
[[nodiscard]] planned_row greedy_row(std::vector<token> prompt, std::uint32_t answer_tokens);

/// What became of a row.
struct row_answer {
  std::vector<token> tokens;    ///< Without the end.
  std::vector<float> logprobs;  ///< If asked for; with that of the end.
  std::vector<likely> top;      ///< If asked for, of one token after the other.
  std::vector<scored> scores;
  std::shared_ptr<const snapshot> kept;  ///< Taken at its first cut, if one could be.
  std::uint32_t fed = 0;                 ///< Tokens of the prompt that were computed.
  std::uint32_t widest = 0;              ///< Rows in the largest tensor batch that it was in.

  /// The same tokens and log probabilities, of those not chosen as well, to the bit.
  [[nodiscard]] bool same_bits(const row_answer& other) const;
};

/// Runs rows on an engine that has none, opened in their order and `together` at once, in tensor batches of
/// `width` at most. Leaves no row behind. Errors: the engine's, the first of a row, and backend_fault where a
/// step does nothing.
[[nodiscard]] result<std::vector<row_answer>> run_rows(step_engine& engine, std::vector<planned_row> rows,
                                                       std::size_t together, std::uint32_t width);

}  // namespace evalcore::engine
