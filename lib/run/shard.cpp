#include <evalcore/run/shard.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <evalcore/prefix/deal.hpp>
#include <evalcore/run/planning.hpp>

namespace evalcore::run {
namespace {

/// Prompts are held while they are dealt, so a large suite is dealt in stretches of so many items.
constexpr std::size_t most_at_once = 16'384;

}  // namespace

result<std::vector<std::size_t>> items_of(const shard& which, const suite& from, std::size_t count) {
  prefix::dealer dealer(which.of);
  std::vector<std::size_t> own;
  for (std::size_t begin = 0; begin < count; begin += most_at_once) {
    std::vector<std::size_t> stretch(std::min(most_at_once, count - begin));
    std::iota(stretch.begin(), stretch.end(), begin);
    // In bytes and with options of no run, which depend on nothing but the suite.
    const auto read = read_prompts(from, stretch, {});
    if (!read) return read.error();
    std::vector<std::uint64_t> lengths;
    lengths.reserve(stretch.size());
    for (const auto& prompt : read->units) lengths.push_back(prompt.size());
    const auto dealt = dealer.deal(prefix::make_plan(read->units, false, {}), lengths);
    for (std::size_t at = 0; at < stretch.size(); ++at) {
      if (dealt[at] + 1 == which.index) own.push_back(stretch[at]);
    }
  }
  return own;
}

}  // namespace evalcore::run
