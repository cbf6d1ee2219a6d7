#include <evalcore/prefix/plan.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "prefix/gain.hpp"
#include "prefix/shared_tree.hpp"

namespace evalcore::prefix {
namespace {

/// Cuts the depth-first order into groups, window by window.
class grouper {
 public:
  explicit grouper(plan& into) : plan_(into) {}

  void window(std::size_t begin, std::size_t end) {
    first_ = plan_.groups.size();
    split(begin, end);
    // Made from the innermost outwards; told by their first member.
    std::vector<std::uint32_t> number(plan_.groups.size() - first_);
    std::vector<group> sorted;
    for (std::size_t at = begin; at < end; ++at) {
      auto& of = plan_.group_of[plan_.order[at]];
      auto& told = number[of - first_];
      if (told == 0) {
        sorted.push_back(plan_.groups[of]);
        sorted.back().first = plan_.order[at];
        told = static_cast<std::uint32_t>(sorted.size());
      }
      of = static_cast<std::uint32_t>(first_) + told - 1;
    }
    std::ranges::copy(sorted, plan_.groups.begin() + static_cast<std::ptrdiff_t>(first_));
  }

 private:
  [[nodiscard]] std::uint32_t common(std::size_t first, std::size_t last) const {
    return last - first < 2 ? 0 : *std::min_element(&plan_.shared[first] + 1, &plan_.shared[last - 1] + 1);
  }

  [[nodiscard]] std::uint32_t mean_length(std::size_t first, std::size_t last) const {
    std::uint64_t sum = 0;
    for (std::size_t at = first; at < last; ++at) sum += plan_.lengths[plan_.order[at]];
    return static_cast<std::uint32_t>(sum / (last - first));
  }

  // Each level makes the prefix longer by a quarter, or what follows it shorter, which bounds the depth.
  void split(std::size_t first, std::size_t last) {  // NOLINT(misc-no-recursion)
    const std::uint32_t around = common(first, last);
    const std::uint32_t notable =
        around + notable_step(around, mean_length(first, last) - around, plan_.min_prefix);
    group rest{.prefix_units = 0xFFFF'FFFFU};
    std::vector<std::uint32_t> members;
    for (std::size_t begin = first; begin < last;) {
      std::size_t end = begin + 1;
      while (end < last && plan_.shared[end] >= notable) ++end;
      if (end - begin > 1) {
        split(begin, end);
      } else {
        members.push_back(static_cast<std::uint32_t>(begin));
      }
      begin = end;
    }
    if (members.empty()) return;
    rest.items = static_cast<std::uint32_t>(members.size());
    rest.prefix_units = common(members.front(), std::size_t{members.back()} + 1);
    for (const auto at : members) {
      plan_.group_of[plan_.order[at]] = static_cast<std::uint32_t>(plan_.groups.size());
    }
    plan_.groups.push_back(rest);
  }

  plan& plan_;
  std::size_t first_ = 0;
};

}  // namespace

std::vector<std::uint32_t> plan::members(std::uint32_t group) const {
  std::vector<std::uint32_t> out;
  for (const auto item : order) {
    if (group_of[item] == group) out.push_back(item);
  }
  return out;
}

struct planner::impl {
  static constexpr std::uint32_t step_of_bytes = 32;

  impl(units of, const options& how, prompt_reader again)
      : width(of == units::tokens ? sizeof(unit) : 1),
        step(of == units::tokens ? 1 : step_of_bytes),
        read([this, reader = std::move(again)](std::uint32_t at) { return reader(base + at); }),
        tree(width, step, read) {
    out.exact = of == units::tokens;
    out.suite_order = how.suite_order;
    dealt = how.dealt;
    out.min_prefix = std::max(how.min_prefix, std::uint32_t{1});
  }

  void close_window() {
    const auto begin = out.order.size();
    auto walked = tree.walk();
    for (auto& item : walked.order) item += base;
    if (begin == 0) {
      out.order = std::move(walked.order);
      out.shared = std::move(walked.shared);
    } else {
      out.order.insert(out.order.end(), walked.order.begin(), walked.order.end());
      out.shared.insert(out.shared.end(), walked.shared.begin(), walked.shared.end());
    }
    base = static_cast<std::uint32_t>(out.order.size());
    out.group_of.resize(base);
    grouper(out).window(begin, base);
  }

  /// See options::dealt.
  [[nodiscard]] std::uint32_t blocks() const {
    constexpr std::uint64_t least_items = 256;
    constexpr std::uint64_t own_for_prefixes = 50;  // 2 %.
    std::uint64_t prefixes = 0;
    std::uint64_t shared = 0;
    for (const auto& one : out.groups) {
      prefixes += one.prefix_units;
      shared += std::uint64_t{one.prefix_units} * one.items;
    }
    const auto most = (out.total_units - shared) / own_for_prefixes / std::max(prefixes, std::uint64_t{1});
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(most, 1, std::max<std::uint64_t>(out.order.size() / least_items, 1)));
  }

  bool dealt = false;
  std::uint32_t width;
  std::uint32_t step;
  std::uint32_t base = 0;  ///< Of the window: positions in the tree count from here.
  prompt_reader read;
  shared_tree tree;
  plan out;
};

planner::planner(units of, const options& how, prompt_reader again)
    : impl_(std::make_unique<impl>(of, how, std::move(again))) {}
planner::~planner() = default;
planner::planner(planner&&) noexcept = default;
planner& planner::operator=(planner&&) noexcept = default;

void planner::add(std::string_view prompt) {
  auto& out = impl_->out;
  const auto length = static_cast<std::uint32_t>(prompt.size() / impl_->width);
  impl_->tree.insert(prompt);
  out.lengths.push_back(length);
  out.total_units += length;
}

void planner::cut() {
  if (impl_->out.lengths.size() > impl_->base) impl_->close_window();
}

plan planner::finish() {
  cut();
  auto& out = impl_->out;
  if (out.order.size() > 1) {
    out.invariant_units = *std::min_element(out.shared.begin() + 1, out.shared.end());
  }
  if (impl_->dealt) out.blocks = impl_->blocks();
  out.lengths.shrink_to_fit();
  out.groups.shrink_to_fit();
  return std::move(out);
}

plan make_plan(std::span<const sequence> prompts, bool exact, const options& how) {
  const auto bytes = [&](std::uint32_t at) {
    return std::string_view(reinterpret_cast<const char*>(prompts[at].data()),
                            prompts[at].size() * sizeof(unit));
  };
  planner making(planner::units::tokens, how, bytes);
  for (std::uint32_t at = 0; at < prompts.size(); ++at) making.add(bytes(at));
  auto out = making.finish();
  out.exact = exact;
  return out;
}

std::vector<std::uint32_t> deal(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  std::mt19937_64 random(seed);
  // Not std::shuffle, which differs between libraries.
  for (std::uint32_t left = count; left > 1; --left) std::swap(out[left - 1], out[random() % left]);
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
