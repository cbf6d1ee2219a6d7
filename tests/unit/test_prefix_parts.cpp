#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <evalcore/prefix/radix_tree.hpp>

#include "prefix/common_units.hpp"
#include "prefix/number_set.hpp"
#include "unit/prompts.hpp"

using namespace evalcore;
using test::prompt;

namespace {

std::vector<prefix::sequence> random_suite(std::mt19937& random) {
  std::vector<prefix::sequence> suite;
  for (auto n = 1 + random() % 200; n > 0; --n) {
    suite.push_back(prompt({{static_cast<int>(random() % 3) * 40, static_cast<int>(random() % 2)},
                            {static_cast<int>(random() % 90), static_cast<int>(random() % 3)},
                            {static_cast<int>(random() % 5), static_cast<int>(random() % 4)}}));
  }
  return suite;
}

prefix::plan plan_of_texts(const std::vector<std::string>& texts) {
  prefix::planner making(prefix::planner::units::bytes, {},
                         [&](std::uint32_t at) { return std::string_view(texts[at]); });
  for (const auto& text : texts) making.add(text);
  return making.finish();
}

}  // namespace

TEST_CASE("a set of numbers finds neighbours as std::set does") {
  std::mt19937 random(3);
  for (const std::uint32_t bound : {1U, 64U, 65U, 5'000U, 300'000U}) {
    prefix::number_set made(bound);
    std::set<std::uint32_t> same;
    for (int round = 0; round < 3'000; ++round) {
      const auto number = static_cast<std::uint32_t>(random()) % bound;
      if (random() % 3 == 0) {
        made.erase(number);
        same.erase(number);
      } else if (random() % 8 == 0) {
        made.insert(number);
        same.insert(number);
      }
      const auto from = static_cast<std::uint32_t>(random()) % bound;
      const auto after = same.lower_bound(from);
      REQUIRE(made.has(from) == same.contains(from));
      REQUIRE(made.at_or_after(from) == (after == same.end() ? std::nullopt : std::optional(*after)));
      REQUIRE(made.before(from) == (after == same.begin() ? std::nullopt : std::optional(*std::prev(after))));
    }
  }
}

TEST_CASE("a plan knows of any two prompts what they have in common, without the prompts") {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const auto suite = random_suite(random);
    const auto made = prefix::make_plan(suite, true, {});
    const prefix::common_units common(made);
    for (int pair = 0; pair < 200; ++pair) {
      const auto a = static_cast<std::uint32_t>(random() % suite.size());
      const auto b = static_cast<std::uint32_t>(random() % suite.size());
      REQUIRE(common.of(a, b) == prefix::common_prefix(suite[a], suite[b]));
    }
  }
}

TEST_CASE("the order shares from one prompt to the next as much as a tree of whole prompts does") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const auto suite = random_suite(random);
    prefix::radix_tree<prefix::unit> tree;
    for (std::uint32_t at = 0; at < suite.size(); ++at) tree.insert(at, suite[at]);
    std::uint64_t shared_there = 0;
    tree.walk([&](std::uint32_t, std::uint32_t shared) { shared_there += shared; });
    const auto made = prefix::make_plan(suite, true, {});
    std::uint64_t shared_here = 0;
    for (const auto shared : made.shared) shared_here += shared;
    REQUIRE(shared_here == shared_there);
  }
}

TEST_CASE("of bytes what is shared is never told longer than it is, nor shorter by 64 or more") {
  std::mt19937 random(6);
  const auto text = [&](std::size_t length, std::uint32_t letters) {
    std::string out(length, ' ');
    for (auto& c : out) c = static_cast<char>('a' + random() % letters);
    return out;
  };
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> texts;
    std::vector<std::string> shared{text(300, 20), text(90, 20)};
    shared.push_back(shared[0] + text(200, 20));
    for (int i = 0; i < 80; ++i) {
      const auto& of = shared[random() % shared.size()];
      texts.push_back(of.substr(0, of.size() - random() % 50) + text(random() % 100, 2));
    }
    const auto made = plan_of_texts(texts);
    const prefix::common_units common(made);
    for (std::uint32_t a = 0; a < texts.size(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const auto until = std::ranges::mismatch(texts[a], texts[b]).in1;
        const auto really = static_cast<std::uint32_t>(until - texts[a].begin());
        REQUIRE(common.of(a, b) <= really);
        REQUIRE(common.of(a, b) + 64 > really);
      }
    }
  }
}

TEST_CASE("a prompt that cannot be read again shares nothing, and the plan is whole") {
  const std::string one(200, 'x');
  prefix::planner making(prefix::planner::units::bytes, {}, [](std::uint32_t) { return std::string_view(); });
  making.add(one);
  making.add(one);
  const auto made = making.finish();
  CHECK(made.order == std::vector<std::uint32_t>{0, 1});
  CHECK(made.shared == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("what is planned apart keeps its place and its groups") {
  const std::vector<std::string> texts{std::string(100, 'a') + "1", std::string(100, 'b') + "2",
                                       std::string(100, 'a') + "3", std::string(100, 'b') + "4",
                                       std::string(100, 'a') + "5", std::string(100, 'a') + "6"};
  prefix::planner making(prefix::planner::units::bytes, {},
                         [&](std::uint32_t at) { return std::string_view(texts[at]); });
  for (std::uint32_t at = 0; at < 4; ++at) making.add(texts[at]);
  making.cut();
  for (std::uint32_t at = 4; at < 6; ++at) making.add(texts[at]);
  const auto made = making.finish();
  CHECK(made.order == std::vector<std::uint32_t>{0, 2, 1, 3, 4, 5});
  CHECK(made.shared == std::vector<std::uint32_t>{0, 100, 0, 100, 0, 100});
  CHECK(made.group_of == std::vector<std::uint32_t>{0, 1, 0, 1, 2, 2});
  CHECK(made.total_units == 6 * 101);
}

TEST_CASE("the same seed deals the same everywhere, and nothing twice") {
  const auto dealt = prefix::deal(1'000, 9);
  CHECK(dealt == prefix::deal(1'000, 9));
  CHECK(dealt != prefix::deal(1'000, 10));
  auto sorted = dealt;
  std::ranges::sort(sorted);
  for (std::uint32_t at = 0; at < sorted.size(); ++at) REQUIRE(sorted[at] == at);
  CHECK(prefix::deal(0, 9).empty());
}
