#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <evalcore/engine/step_engine.hpp>

#include "engine/next_token.hpp"

namespace evalcore::engine {

/// How far the continuations of a row are scored, one after the other. The end of the prompt tells of the
/// first token of each; then all but the last token of each is computed behind the prompt.
class continuation_scores {
 public:
  continuation_scores() = default;
  explicit continuation_scores(std::vector<std::vector<token>> continuations);

  [[nodiscard]] bool wanted() const noexcept { return !continuations_.empty(); }
  void at_end_of_prompt(const next_token& next);
  /// Tokens of the present continuation that are not computed yet, and the first of them.
  [[nodiscard]] std::uint32_t left() const;
  [[nodiscard]] token at(std::uint32_t offset) const;
  /// How many of it are.
  [[nodiscard]] std::uint32_t computed() const noexcept { return computed_; }
  /// What follows the next token of it, now computed.
  void add(const next_token& next);
  /// The present continuation, if it is scored to its end: the next one is then the present. `row` is left
  /// to the caller.
  [[nodiscard]] std::optional<scored> finished();

 private:
  struct sum {
    double logprob = 0;
    bool greedy = true;
  };
  static void count(sum& all, const next_token& next, token id);

  std::vector<std::vector<token>> continuations_;
  std::vector<sum> sums_;
  std::size_t present_ = 0;
  std::uint32_t computed_ = 0;
};

}  // namespace evalcore::engine
