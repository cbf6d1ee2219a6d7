#include <evalcore/prefix/plan.hpp>

#include <algorithm>
#include <cstring>

#include <evalcore/prefix/radix_tree.hpp>

#include "prefix/depth_first.hpp"
#include "prefix/gain.hpp"

namespace evalcore::prefix {
namespace {

/// Cuts the depth-first order into groups. Members are places in that order, not in the suite.
class grouper {
 public:
  grouper(std::span<const std::uint32_t> shared, std::uint32_t min_prefix)
      : shared_(shared), min_prefix_(min_prefix) {}

  std::vector<group> run() {
    if (!shared_.empty()) split(0, shared_.size());
    std::ranges::sort(groups_, {}, [](const group& one) { return one.members.front(); });
    return std::move(groups_);
  }

 private:
  std::uint32_t common(std::size_t first, std::size_t last) const {
    return last - first < 2 ? 0 : *std::min_element(&shared_[first] + 1, &shared_[last - 1] + 1);
  }

  // Each level makes the prefix longer by a quarter, which bounds the depth.
  void split(std::size_t first, std::size_t last) {  // NOLINT(misc-no-recursion)
    const std::uint32_t around = common(first, last);
    const std::uint32_t notable = around + notable_step(around, min_prefix_);
    group rest;
    for (std::size_t begin = first; begin < last;) {
      std::size_t end = begin + 1;
      while (end < last && shared_[end] >= notable) ++end;
      if (end - begin > 1) {
        split(begin, end);
      } else {
        rest.members.push_back(static_cast<std::uint32_t>(begin));
      }
      begin = end;
    }
    if (rest.members.empty()) return;
    rest.prefix_units = common(rest.members.front(), std::size_t{rest.members.back()} + 1);
    groups_.push_back(std::move(rest));
  }

  std::span<const std::uint32_t> shared_;
  std::uint32_t min_prefix_;
  std::vector<group> groups_;
};

}  // namespace

depth_first walk_depth_first(std::span<const sequence> prompts) {
  radix_tree<unit> tree;
  for (std::uint32_t item = 0; item < prompts.size(); ++item) tree.insert(item, prompts[item]);
  depth_first walked;
  walked.order.reserve(prompts.size());
  walked.shared.reserve(prompts.size());
  tree.walk([&](std::uint32_t item, std::uint32_t shared) {
    walked.order.push_back(item);
    walked.shared.push_back(shared);
  });
  return walked;
}

plan make_plan(std::span<const sequence> prompts, bool exact, const options& how) {
  auto walked = walk_depth_first(prompts);
  plan out;
  out.exact = exact;
  out.suite_order = how.suite_order;
  out.min_prefix = std::max(how.min_prefix, std::uint32_t{1});
  for (const auto& prompt : prompts) out.total_units += prompt.size();
  if (prompts.size() > 1) {
    out.invariant_units = *std::min_element(walked.shared.begin() + 1, walked.shared.end());
  }
  out.groups = grouper(walked.shared, out.min_prefix).run();
  for (auto& one : out.groups) {
    for (auto& member : one.members) member = walked.order[member];
    if (how.suite_order) std::ranges::sort(one.members);
  }
  if (how.suite_order) {
    std::ranges::sort(out.groups, {}, [](const group& one) { return one.members.front(); });
    std::ranges::sort(walked.order);
  }
  out.order = std::move(walked.order);
  return out;
}

std::uint32_t common_prefix(std::span<const unit> a, std::span<const unit> b) noexcept {
  // Whole blocks first: memcmp compares them many times faster than a loop over units.
  constexpr std::size_t block = 64;
  const std::size_t bound = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (bound - at >= block && std::memcmp(&a[at], &b[at], block * sizeof(unit)) == 0) at += block;
  while (at < bound && a[at] == b[at]) ++at;
  return static_cast<std::uint32_t>(at);
}

}  // namespace evalcore::prefix
