#include "concurrency_keys.hpp"

#include <algorithm>
#include <string>

namespace evalcore::cli {

concurrency_keys::concurrency_keys(std::uint32_t bound, bool quiet, progress_line& say)
    : bound_(bound), quiet_(quiet), say_(say) {}

void concurrency_keys::of(pool::pool* running) {
  running_ = running;
  if (running_ != nullptr && keys_.listening() && !quiet_) {
    say_.note("press + or - to have more or fewer requests in flight");
  }
}

void concurrency_keys::look() {
  while (const auto key = keys_.pressed()) {
    if (running_ == nullptr || (*key != '+' && *key != '-')) continue;
    constexpr std::uint32_t most = 10'000;
    const auto step = std::max(bound_ / 4, std::uint32_t{1});
    bound_ = *key == '+' ? std::min(bound_ + step, most) : std::max(bound_ - step, std::uint32_t{1});
    running_->set_max_in_flight(bound_);
    say_.note("at most " + std::to_string(bound_) + " requests in flight at each endpoint");
  }
}

}  // namespace evalcore::cli
