#pragma once

#include <llama.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <evalcore/engine/step_engine.hpp>

#include "engine/continuation_scores.hpp"
#include "engine/llama_sampling.hpp"
#include "engine/step_plan.hpp"

namespace evalcore::engine {

/// An open row.
struct llama_row {
  row_id id = 0;
  llama_seq_id sequence = 0;
  row_request asked;  ///< `from` only where its tokens are still used; the continuations are in `scores`.
  std::uint32_t held = 0;      ///< Tokens that are computed.
  std::uint64_t reserved = 0;  ///< Tokens that it may come to hold of its own.
  std::size_t next_cut = 0;
  bool at_cut = false;
  bool gone = false;             ///< It ended in this step.
  std::optional<token> pending;  ///< Given to the caller, and not computed yet.
  std::uint32_t answered = 0;    ///< Tokens.
  token_chooser chooser;
  continuation_scores scores;
  std::string text;  ///< Of the last token.

  [[nodiscard]] bool in_prompt() const { return held < asked.prompt.size(); }

  [[nodiscard]] row_need need() const {
    if (pending) return {.sequence = sequence, .decodes = true};
    if (!in_prompt()) return {.sequence = sequence, .feeds = scores.left(), .chunk = untiled};
    const auto end =
        next_cut < asked.cuts.size() ? asked.cuts[next_cut] : static_cast<std::uint32_t>(asked.prompt.size());
    return {.sequence = sequence, .feeds = end - held, .chunk = grid};
  }
};

/// The input of one decode, kept and filled again.
class tensor_input {
 public:
  void clear() {
    tokens_.clear();
    positions_.clear();
    sequences_.clear();
    outputs_.clear();
  }
  void add(token id, std::uint32_t position, llama_seq_id sequence, bool wants_output) {
    tokens_.push_back(id);
    positions_.push_back(static_cast<llama_pos>(position));
    sequences_.push_back(sequence);
    outputs_.push_back(wants_output ? 1 : 0);
  }
  /// Valid until the next change.
  [[nodiscard]] llama_batch batch() {
    counts_.assign(tokens_.size(), 1);
    pointers_.resize(tokens_.size());
    for (std::size_t at = 0; at < tokens_.size(); ++at) pointers_[at] = &sequences_[at];
    return {static_cast<std::int32_t>(tokens_.size()),
            tokens_.data(),
            nullptr,
            positions_.data(),
            counts_.data(),
            pointers_.data(),
            outputs_.data()};
  }

 private:
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<llama_seq_id> sequences_;
  std::vector<std::int8_t> outputs_;
  std::vector<std::int32_t> counts_;
  std::vector<llama_seq_id*> pointers_;
};

}  // namespace evalcore::engine
