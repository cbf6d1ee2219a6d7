#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// What a model says of the next token: a score for each of the vocabulary. Looks at the caller's numbers.
class next_token {
 public:
  explicit next_token(std::span<const float> logits);

  /// The likeliest, of equals the lowest; -1 where no score is a number.
  [[nodiscard]] token likeliest() const noexcept { return likeliest_; }
  /// Whether each score is a number: neither NaN nor infinite.
  [[nodiscard]] bool finite() const noexcept { return finite_; }
  /// Natural logarithm of the probability; NaN where no score is a number.
  [[nodiscard]] double logprob(token id) const;
  /// The likeliest `count`, the lower id first among equals.
  [[nodiscard]] std::vector<likely> top(std::uint32_t count) const;

 private:
  [[nodiscard]] double log_of_sum() const;

  std::span<const float> logits_;
  token likeliest_ = -1;
  bool finite_ = true;
  mutable double log_of_sum_ = 0;
  mutable bool summed_ = false;
};

}  // namespace evalcore::engine
