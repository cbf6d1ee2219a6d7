#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <evalcore/prefix/plan.hpp>

#include "unit/prompts.hpp"

using namespace evalcore;
using test::prompt;
using items = std::vector<std::uint32_t>;

TEST_CASE("families that a suite mixes are put together") {
  const std::vector<prefix::sequence> suite{
      prompt({{100, 1}, {5, 11}}), prompt({{80, 2}, {5, 12}}),  prompt({{100, 1}, {5, 13}}),
      prompt({{80, 2}, {6, 14}}),  prompt({{100, 1}, {7, 15}}),
  };
  const auto made = prefix::make_plan(suite, true, {});
  CHECK(made.order == items{0, 2, 4, 1, 3});
  REQUIRE(made.groups.size() == 2);
  CHECK(made.groups[0].prefix_units == 100);
  CHECK(made.members(0) == items{0, 2, 4});
  CHECK(made.groups[1].prefix_units == 80);
  CHECK(made.members(1) == items{1, 3});
  CHECK(made.invariant_units == 0);
  CHECK(made.total_units == 105 + 85 + 105 + 86 + 107);
  CHECK(made.exact);
}

TEST_CASE("a short template common to all does not hide the families below it") {
  std::vector<prefix::sequence> suite;
  for (const int family : {1, 2, 1, 2}) {
    suite.push_back(prompt({{25, 9}, {300, family}, {5, 100 + static_cast<int>(suite.size())}}));
  }
  const auto made = prefix::make_plan(suite, true, {});
  CHECK(made.invariant_units == 25);
  REQUIRE(made.groups.size() == 2);
  CHECK(made.groups[0].prefix_units == 325);
  CHECK(made.members(0) == items{0, 2});
  CHECK(made.members(1) == items{1, 3});
}

TEST_CASE("questions that begin alike stay in their family") {
  // 900 shared; the first and the third share 20 more, which is next to nothing beside 900.
  const std::vector<prefix::sequence> suite{prompt({{900, 1}, {20, 2}, {9, 3}}), prompt({{900, 1}, {30, 4}}),
                                            prompt({{900, 1}, {20, 2}, {9, 5}})};
  const auto made = prefix::make_plan(suite, true, {});
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].prefix_units == 900);
  CHECK(made.members(0) == items{0, 2, 1});
  CHECK(made.invariant_units == 900);
}

TEST_CASE("a long common prefix does not hide families that share much of what is left") {
  // 2,000 shared by all, 200 more by each family of two: a tenth of 2,000, but two thirds of the rest.
  std::vector<prefix::sequence> suite;
  for (int i = 0; i < 6; ++i) suite.push_back(prompt({{2'000, 1}, {200, 10 + i % 3}, {100, 20 + i}}));
  const auto made = prefix::make_plan(suite, true, {});
  REQUIRE(made.groups.size() == 3);
  CHECK(made.groups[0].prefix_units == 2'200);
  CHECK(made.members(0) == items{0, 3});
  CHECK(made.members(1) == items{1, 4});
  CHECK(made.members(2) == items{2, 5});
}

TEST_CASE("what shares nothing is gathered in one group") {
  const std::vector<prefix::sequence> suite{prompt({{50, 1}}), prompt({{40, 2}, {9, 8}}), prompt({{50, 3}}),
                                            prompt({{40, 2}, {9, 7}}), prompt({{15, 1}, {50, 4}})};
  const auto made = prefix::make_plan(suite, false, {});
  CHECK(made.order == items{0, 4, 1, 3, 2});
  REQUIRE(made.groups.size() == 2);
  CHECK(made.groups[0].prefix_units == 0);
  CHECK(made.members(0) == items{0, 4, 2});
  CHECK(made.groups[1].prefix_units == 40);
  CHECK_FALSE(made.exact);
}

TEST_CASE("the least prefix worth a group is an option") {
  const std::vector<prefix::sequence> suite{prompt({{10, 1}, {5, 2}}), prompt({{10, 1}, {5, 3}}),
                                            prompt({{9, 4}})};
  CHECK(prefix::make_plan(suite, true, {}).groups.size() == 1);
  CHECK(prefix::make_plan(suite, true, {.min_prefix = 10}).groups.size() == 2);
  CHECK(prefix::make_plan(suite, true, {.min_prefix = 11}).groups.size() == 1);
}

TEST_CASE("suite order is kept when asked for, and the groups are still told") {
  const std::vector<prefix::sequence> suite{prompt({{50, 1}, {1, 2}}), prompt({{50, 3}, {1, 4}}),
                                            prompt({{50, 1}, {1, 5}}), prompt({{50, 3}, {1, 6}})};
  const auto made = prefix::make_plan(suite, true, {.suite_order = true});
  CHECK(made.suite_order);
  REQUIRE(made.groups.size() == 2);
  CHECK(made.members(0) == items{0, 2});
  CHECK(made.members(1) == items{1, 3});
}

TEST_CASE("no prompts and empty prompts make a plan") {
  const auto none = prefix::make_plan({}, true, {});
  CHECK(none.order.empty());
  CHECK(none.groups.empty());
  const std::vector<prefix::sequence> empties(3);
  const auto made = prefix::make_plan(empties, true, {});
  CHECK(made.order == items{0, 1, 2});
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].prefix_units == 0);
}

TEST_CASE("every request is in the order once and in one group, whose prefix all members have") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<prefix::sequence> suite;
    for (auto n = random() % 60; n > 0; --n) {
      suite.push_back(prompt({{25, 9},
                              {static_cast<int>(random() % 200), static_cast<int>(random() % 3)},
                              {static_cast<int>(random() % 60), static_cast<int>(random() % 5)}}));
    }
    const auto made = prefix::make_plan(suite, true, {});
    items order = made.order;
    items grouped;
    for (std::uint32_t g = 0; g < made.groups.size(); ++g) {
      const auto members = made.members(g);
      REQUIRE(members.size() == made.groups[g].items);
      REQUIRE(members[0] == made.groups[g].first);
      std::uint32_t shared = static_cast<std::uint32_t>(suite[members[0]].size());
      for (const auto member : members) {
        grouped.push_back(member);
        shared = std::min(shared, prefix::common_prefix(suite[members[0]], suite[member]));
      }
      REQUIRE(made.groups[g].prefix_units == (members.size() == 1 ? 0 : shared));
    }
    std::ranges::sort(order);
    std::ranges::sort(grouped);
    items all(suite.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    REQUIRE(order == all);
    REQUIRE(grouped == all);
  }
}
