#include <evalcore/run/shard.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <evalcore/prefix/deal.hpp>
#include <evalcore/run/planning.hpp>

namespace evalcore::run {
namespace {

/// A large suite is dealt in stretches of so many items, as plans take memory.
constexpr std::size_t most_at_once = 16'384;

}  // namespace

result<std::vector<std::size_t>> items_of(const shard& which, const suite& from, std::size_t count) {
  prefix::dealer dealer(which.of);
  std::vector<std::size_t> own;
  for (std::size_t begin = 0; begin < count; begin += most_at_once) {
    std::vector<std::uint32_t> stretch(std::min(most_at_once, count - begin));
    std::iota(stretch.begin(), stretch.end(), static_cast<std::uint32_t>(begin));
    // In bytes and with options of no run, which depend on nothing but the suite.
    const auto made = plan_items(from, stretch, {}, {});
    if (!made) return made.error();
    const auto dealt = dealer.deal(*made);
    for (std::size_t at = 0; at < stretch.size(); ++at) {
      if (dealt[at] + 1 == which.index) own.push_back(stretch[at]);
    }
  }
  return own;
}

}  // namespace evalcore::run
