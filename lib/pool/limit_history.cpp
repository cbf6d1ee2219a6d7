#include <evalcore/pool/limit_history.hpp>

#include <array>

namespace evalcore::pool {

namespace {

using std::chrono_literals::operator""s;

constexpr duration told_every = 1s;
constexpr std::size_t most_changes = 1024;

}  // namespace

std::string_view name(limit_reason why) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "started", "grew", "found_knee", "probed", "probe_ended", "rejected", "collapsed", "tokens", "bounded"};
  return names[static_cast<std::size_t>(why)];
}

void limit_history::note(const limit_change& change) {
  const bool told_once_a_second = change.why == limit_reason::grew || change.why == limit_reason::tokens;
  const bool goes_on = told_once_a_second && !changes_.empty() && changes_.back().why == change.why;
  if (goes_on && change.at - changes_.back().at < told_every) {
    changes_.back().limit = change.limit;
    changes_.back().tokens = change.tokens;
    return;
  }
  if (changes_.size() == most_changes) {
    for (std::size_t kept = 0; kept < most_changes / 2; ++kept) changes_[kept] = changes_[2 * kept];
    changes_.resize(most_changes / 2);
  }
  changes_.push_back(change);
}

}  // namespace evalcore::pool
