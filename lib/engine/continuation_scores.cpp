#include "engine/continuation_scores.hpp"

#include <utility>

namespace evalcore::engine {

continuation_scores::continuation_scores(std::vector<std::vector<token>> continuations)
    : continuations_(std::move(continuations)) {}

void continuation_scores::count(sum& all, const next_token& next, token id) {
  all.logprob += next.logprob(id);
  all.greedy = all.greedy && next.likeliest() == id;
}

void continuation_scores::at_end_of_prompt(const next_token& next) {
  sums_.assign(continuations_.size(), {});
  for (std::size_t at = 0; at < continuations_.size(); ++at)
    count(sums_[at], next, continuations_[at].front());
}

std::uint32_t continuation_scores::left() const {
  if (present_ >= sums_.size()) return 0;
  return static_cast<std::uint32_t>(continuations_[present_].size()) - 1 - computed_;
}

token continuation_scores::at(std::uint32_t offset) const {
  return continuations_[present_][computed_ + offset];
}

void continuation_scores::add(const next_token& next) {
  ++computed_;
  count(sums_[present_], next, continuations_[present_][computed_]);
}

std::optional<scored> continuation_scores::finished() {
  if (present_ >= sums_.size() || left() > 0) return std::nullopt;
  scored done;
  done.continuation = present_;
  done.sum_logprob = sums_[present_].logprob;
  done.is_greedy = sums_[present_].greedy;
  done.last = present_ + 1 == continuations_.size();
  ++present_;
  computed_ = 0;
  return done;
}

}  // namespace evalcore::engine
