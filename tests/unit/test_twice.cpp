#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <variant>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/twice.hpp>

#include "unit/prompts.hpp"

using namespace evalcore;
using test::add_family;

namespace {

/// Three families of 8, 8 and 4, suite positions mixed.
std::vector<prefix::sequence> mixed() {
  std::vector<prefix::sequence> families;
  add_family(families, 1, 8, 200, 20);
  add_family(families, 2, 8, 300, 20);
  add_family(families, 3, 4, 100, 20);
  const auto places = prefix::deal(static_cast<std::uint32_t>(families.size()), 7);
  std::vector<prefix::sequence> out;
  for (const auto place : places) out.push_back(families[place]);
  return out;
}

std::vector<std::uint32_t> all(std::size_t count) {
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

/// Positions of the plan it was made of, copies left out, in the order in which `order` has them.
std::vector<std::uint32_t> firsts(const prefix::doubled_plan& made, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> out;
  for (const auto item : order) {
    if (!made.second[item]) out.push_back(made.of[item]);
  }
  return out;
}

/// What goes out, request after request, each answered before the next.
std::vector<std::uint32_t> dispatched(const prefix::plan& order, prefix::cache_model cache) {
  prefix::dispatcher at(order, cache);
  const instant now{};
  std::vector<std::uint32_t> out;
  for (;;) {
    auto what = at.next(now);
    if (const auto* copy = std::get_if<prefix::share>(&what); copy != nullptr) {
      at.on_shared(true);
      continue;
    }
    const auto* one = std::get_if<prefix::send>(&what);
    if (one == nullptr) break;
    out.push_back(one->item);
    at.on_first_token(one->item, now);
    at.on_end(one->item, {.ok = true, .cached = one->predicted_cached});
  }
  return out;
}

}  // namespace

TEST_CASE("copies leave the order, the groups and the lengths of all others as they are") {
  const auto prompts = mixed();
  const auto plan = prefix::make_plan(prompts, true, {});
  const std::vector<std::uint32_t> items{0, 3, 9, 17};
  const auto made = prefix::send_twice(plan, items);
  CHECK(firsts(made, made.order.order) == plan.order);
  CHECK(made.order.order.size() == 24);
  CHECK(made.order.groups.size() == plan.groups.size());
  CHECK(std::ranges::count(made.second, true) == 4);
  std::vector<std::uint32_t> copied;
  for (std::uint32_t item = 0; item < made.of.size(); ++item) {
    CHECK(made.order.lengths[item] == plan.lengths[made.of[item]]);
    CHECK(made.order.group_of[item] == plan.group_of[made.of[item]]);
    if (made.second[item]) copied.push_back(made.of[item]);
  }
  std::ranges::sort(copied);
  CHECK(copied == items);
  std::uint32_t members = 0;
  for (const auto& group : made.order.groups) members += group.items;
  CHECK(members == 24);
}

TEST_CASE("a copy stands half its group away from the first one") {
  const auto prompts = mixed();
  const auto plan = prefix::make_plan(prompts, true, {});
  const auto made = prefix::send_twice(plan, all(prompts.size()));
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group) {
    const auto members = made.order.members(group);
    const auto before = plan.members(group);
    REQUIRE(members.size() == 2 * before.size());
    for (std::size_t at = 0; at < before.size(); ++at) {
      // Each first one, and behind it the copy of the one that is half the group away.
      CHECK(made.of[members[2 * at]] == before[at]);
      CHECK(made.of[members[2 * at + 1]] == before[(at + before.size() / 2) % before.size()]);
      CHECK(made.second[members[2 * at + 1]]);
    }
  }
}

TEST_CASE("in suite order a copy stands half the suite away") {
  std::vector<prefix::sequence> prompts;
  add_family(prompts, 1, 4, 50, 5);
  const auto plan = prefix::make_plan(prompts, true, {.suite_order = true});
  const std::vector<std::uint32_t> items{0, 3};
  const auto made = prefix::send_twice(plan, items);
  // 0 1 [3] 2 [0] 3
  CHECK(made.of == std::vector<std::uint32_t>{0, 1, 3, 2, 0, 3});
  CHECK(made.second == std::vector<bool>{false, false, true, false, true, false});
  CHECK(dispatched(made.order, {}) == all(6));
}

TEST_CASE("what the new plan has in common is never more than what the prompts have") {
  const auto prompts = mixed();
  const auto plan = prefix::make_plan(prompts, true, {});
  const auto made = prefix::send_twice(plan, all(prompts.size()));
  const auto& order = made.order.order;
  for (std::size_t a = 0; a < order.size(); ++a) {
    std::uint32_t told = 0xFFFF'FFFF;
    for (std::size_t b = a + 1; b < order.size(); ++b) {
      told = std::min(told, made.order.shared[b]);
      CHECK(told <= prefix::common_prefix(prompts[made.of[order[a]]], prompts[made.of[order[b]]]));
    }
  }
}

TEST_CASE("whatever the cache, all go out once, copies among the others and not at the end") {
  const auto prompts = mixed();
  const auto plan = prefix::make_plan(prompts, true, {});
  const std::vector<std::uint32_t> items{1, 4, 8, 12, 16};
  const auto made = prefix::send_twice(plan, items);
  for (const prefix::cache_model& cache :
       {prefix::cache_model{}, prefix::cache_model{.slots = 2},
        prefix::cache_model{.slots = 4, .can_share = true}, prefix::cache_model{.enabled = false}}) {
    auto out = dispatched(made.order, cache);
    // Which group's turn it is may shift; within a group the first ones keep their order.
    const auto in_group = [&](std::vector<std::uint32_t> order) {
      std::ranges::stable_sort(order, {}, [&](auto item) { return plan.group_of[item]; });
      return order;
    };
    CHECK(in_group(firsts(made, out)) == in_group(dispatched(plan, cache)));
    std::size_t in_first_half = 0;
    for (std::size_t at = 0; at < out.size() / 2; ++at) in_first_half += made.second[out[at]] ? 1U : 0U;
    CHECK(in_first_half >= 1);
    std::ranges::sort(out);
    CHECK(out == all(25));
  }
}
