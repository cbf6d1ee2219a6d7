#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <evalcore/prefix/deal.hpp>

using namespace evalcore;

namespace {

using shards = std::vector<std::uint32_t>;
using lengths = std::vector<std::uint32_t>;

struct family {
  std::uint32_t prefix_units = 0;
  std::vector<std::uint32_t> members;
};

prefix::plan plan_of(const std::vector<family>& families, lengths of) {
  prefix::plan plan;
  plan.lengths = std::move(of);
  plan.group_of.resize(plan.lengths.size());
  for (const auto& one : families) {
    for (const auto member : one.members) {
      plan.order.push_back(member);
      plan.group_of[member] = static_cast<std::uint32_t>(plan.groups.size());
    }
    plan.groups.push_back(
        {one.prefix_units, static_cast<std::uint32_t>(one.members.size()), one.members.front()});
  }
  return plan;
}

}  // namespace

TEST_CASE("groups go whole, the largest first, to the shard that has least") {
  // To compute: 80 + 3 · 20 = 140; 30 + 2 · 20 = 70; 60; 10. In turn: 140 to the first, then 70, 60 and 10 to
  // the second, which then has 140, too.
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{80, {0, 3, 5}}, {30, {1, 2}}, {0, {4}}, {0, {6}}},
                         lengths{100, 50, 50, 100, 60, 100, 10})) == shards{0, 1, 1, 0, 1, 0, 1});
}

TEST_CASE("one group that is the whole suite is cut into even parts") {
  prefix::dealer four(4);
  // 8 · 150 more; every shard computes the prefix and two of them.
  CHECK(four.deal(plan_of({{100, {0, 1, 2, 3, 4, 5, 6, 7}}}, lengths(8, 250))) ==
        shards{0, 0, 1, 1, 2, 2, 3, 3});
}

TEST_CASE("a group that is a little more than an even part is left whole") {
  // 100 and 80: the even part is 90.
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{50, {0, 1}}, {50, {2, 3}}}, lengths{75, 75, 65, 65})) == shards{0, 0, 1, 1});
}

TEST_CASE("what was dealt before counts") {
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{0, {0}}, {0, {1}}}, lengths{90, 60})) == shards{0, 1});
  // 90 and 60: both go to the second (60 + 40 = 100), then the first (90).
  CHECK(two.deal(plan_of({{0, {0}}, {0, {1}}}, lengths{40, 5})) == shards{1, 0});
}

TEST_CASE("more shards than requests leave some without any, and empty prompts are dealt, too") {
  prefix::dealer five(5);
  const auto dealt = five.deal(plan_of({{0, {0}}, {0, {1}}}, lengths{3, 2}));
  CHECK(dealt == shards{0, 1});
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{0, {0, 1, 2}}}, lengths{0, 0, 0})) == shards{0, 0, 0});
  CHECK(two.deal(plan_of({}, lengths{})).empty());
}

TEST_CASE("many groups are balanced") {
  std::vector<family> groups;
  lengths all;
  for (std::uint32_t i = 0; i < 300; ++i) {
    groups.push_back({40, {3 * i, 3 * i + 1, 3 * i + 2}});
    for (std::uint32_t j = 0; j < 3; ++j) all.push_back(50 + (i * 37 + j * 11) % 100);
  }
  prefix::dealer seven(7);
  const auto dealt = seven.deal(plan_of(groups, all));
  std::vector<std::uint64_t> load(7);
  for (const auto& one : groups) {
    CHECK(dealt[one.members[0]] == dealt[one.members[1]]);
    CHECK(dealt[one.members[0]] == dealt[one.members[2]]);
    load[dealt[one.members[0]]] += 40;
    for (const auto member : one.members) load[dealt[member]] += all[member] - 40;
  }
  const auto [least, most] = std::ranges::minmax(load);
  CHECK(most - least <= 300);  // No more than one group comes to.
}
