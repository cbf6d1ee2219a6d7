#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include <evalcore/prefix/deal.hpp>

using namespace evalcore;

namespace {

using shards = std::vector<std::uint32_t>;
using lengths = std::vector<std::uint64_t>;

prefix::plan plan_of(std::vector<prefix::group> groups) {
  prefix::plan plan;
  plan.groups = std::move(groups);
  return plan;
}

}  // namespace

TEST_CASE("groups go whole, the largest first, to the shard that has least") {
  // To compute: 80 + 3 · 20 = 140; 30 + 2 · 20 = 70; 60; 10. In turn: 140 to the first, then 70, 60 and 10 to
  // the second, which then has 140, too.
  const auto plan = plan_of({{80, {0, 3, 5}}, {30, {1, 2}}, {0, {4}}, {0, {6}}});
  prefix::dealer two(2);
  CHECK(two.deal(plan, lengths{100, 50, 50, 100, 60, 100, 10}) == shards{0, 1, 1, 0, 1, 0, 1});
}

TEST_CASE("one group that is the whole suite is cut into even parts") {
  const auto plan = plan_of({{100, {0, 1, 2, 3, 4, 5, 6, 7}}});
  prefix::dealer four(4);
  // 8 · 150 more; every shard computes the prefix and two of them.
  CHECK(four.deal(plan, lengths(8, 250)) == shards{0, 0, 1, 1, 2, 2, 3, 3});
}

TEST_CASE("a group that is a little more than an even part is left whole") {
  // 100 and 80: the even part is 90.
  const auto plan = plan_of({{50, {0, 1}}, {50, {2, 3}}});
  prefix::dealer two(2);
  CHECK(two.deal(plan, lengths{75, 75, 65, 65}) == shards{0, 0, 1, 1});
}

TEST_CASE("what was dealt before counts") {
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{0, {0}}, {0, {1}}}), lengths{90, 60}) == shards{0, 1});
  // 90 and 60: both go to the second (60 + 40 = 100), then the first (90).
  CHECK(two.deal(plan_of({{0, {0}}, {0, {1}}}), lengths{40, 5}) == shards{1, 0});
}

TEST_CASE("more shards than requests leave some without any, and empty prompts are dealt, too") {
  prefix::dealer five(5);
  const auto dealt = five.deal(plan_of({{0, {0}}, {0, {1}}}), lengths{3, 2});
  CHECK(dealt == shards{0, 1});
  prefix::dealer two(2);
  CHECK(two.deal(plan_of({{0, {0, 1, 2}}}), lengths{0, 0, 0}) == shards{0, 0, 0});
  CHECK(two.deal(plan_of({}), lengths{}).empty());
}

TEST_CASE("many groups are balanced") {
  std::vector<prefix::group> groups;
  lengths all;
  for (std::uint32_t i = 0; i < 300; ++i) {
    groups.push_back({40, {3 * i, 3 * i + 1, 3 * i + 2}});
    for (std::uint64_t j = 0; j < 3; ++j) all.push_back(50 + (i * 37 + j * 11) % 100);
  }
  prefix::dealer seven(7);
  const auto dealt = seven.deal(plan_of(groups), all);
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
