#include "pool/retry_budget.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evalcore::pool {
namespace {

using namespace std::chrono_literals;

}  // namespace

retry_budget::retry_budget(const retry_options& how, instant start)
    : share_(how.budget_share), per_s_(how.budget_per_s), second_(start) {
  deposits_.fill(per_s_);  // As if it had been idle: a run's first failures need not wait for the trickle.
}

void retry_budget::sent_first(instant now) {
  advance(now);
  deposit(share_);
}

bool retry_budget::affords(instant now) {
  advance(now);
  return balance() >= 1;
}

instant retry_budget::affords_at(instant now) {
  if (affords(now)) return now;
  if (per_s_ <= 0) return instant::max();
  return second_ + 1s * static_cast<std::int64_t>(std::ceil((1 - balance()) / per_s_));
}

void retry_budget::sent_retry(instant now) {
  advance(now);
  double owed = 1;
  // The oldest first: it is the next to be lost.
  for (std::size_t age = window_s; age-- > 0 && owed > 0;) {
    double& one = deposits_[(newest_ + window_s - age) % window_s];
    const double taken = std::min(one, owed);
    one -= taken;
    owed -= taken;
  }
}

void retry_budget::retry_answered(instant now) {
  advance(now);
  deposit(1);
}

void retry_budget::advance(instant now) {
  for (std::size_t passed = 0; now - second_ >= 1s; ++passed) {
    if (passed == window_s) {  // All of it is old.
      second_ += std::chrono::floor<std::chrono::seconds>(now - second_);
      break;
    }
    second_ += 1s;
    newest_ = (newest_ + 1) % window_s;
    deposits_[newest_] = per_s_;
  }
}

void retry_budget::deposit(double amount) { deposits_[newest_] += amount; }

double retry_budget::balance() const { return std::accumulate(deposits_.begin(), deposits_.end(), 0.0); }

}  // namespace evalcore::pool
