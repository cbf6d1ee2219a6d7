#include "engine/next_token.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace evalcore::engine {

next_token::next_token(std::span<const float> logits) : logits_(logits) {
  float most = -std::numeric_limits<float>::infinity();
  for (std::size_t at = 0; at < logits.size(); ++at) {
    finite_ = finite_ && std::isfinite(logits[at]);
    if (!(logits[at] > most)) continue;
    most = logits[at];
    likeliest_ = static_cast<token>(at);
  }
}

double next_token::log_of_sum() const {
  if (likeliest_ < 0) return std::numeric_limits<double>::quiet_NaN();
  if (!summed_) {
    const double most = logits_[static_cast<std::size_t>(likeliest_)];
    double sum = 0;
    for (const float logit : logits_) sum += std::exp(static_cast<double>(logit) - most);
    log_of_sum_ = most + std::log(sum);
    summed_ = true;
  }
  return log_of_sum_;
}

double next_token::logprob(token id) const {
  return static_cast<double>(logits_[static_cast<std::size_t>(id)]) - log_of_sum();
}

std::vector<likely> next_token::top(std::uint32_t count) const {
  std::vector<token> order(logits_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, order.size()));
  std::ranges::partial_sort(order, end, [&](token a, token b) {
    const float left = logits_[static_cast<std::size_t>(a)];
    const float right = logits_[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  });
  std::vector<likely> found;
  for (auto at = order.begin(); at != end; ++at) found.push_back({*at, static_cast<float>(logprob(*at))});
  return found;
}

}  // namespace evalcore::engine
