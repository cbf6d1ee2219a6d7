#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/prefix/plan.hpp>
#include <evalcore/prefix/radix_tree.hpp>

using namespace evalcore;

namespace {

using visits = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

template <class Unit>
visits walk(const std::vector<std::vector<Unit>>& sequences) {
  prefix::radix_tree<Unit> tree;
  for (std::uint32_t i = 0; i < sequences.size(); ++i) tree.insert(i, sequences[i]);
  CHECK(tree.nodes() <= 2 * sequences.size() + 1);
  visits seen;
  tree.walk([&](std::uint32_t name, std::uint32_t shared) { seen.emplace_back(name, shared); });
  return seen;
}

/// Unit by unit, without any tree.
void naive_walk(const std::vector<prefix::sequence>& all, const std::vector<std::uint32_t>& some,
                std::size_t depth, std::vector<std::uint32_t>& out) {
  std::vector<prefix::unit> firsts;
  std::map<prefix::unit, std::vector<std::uint32_t>> by_unit;
  for (const auto i : some) {
    if (all[i].size() == depth) {
      out.push_back(i);
      continue;
    }
    if (by_unit[all[i][depth]].empty()) firsts.push_back(all[i][depth]);
    by_unit[all[i][depth]].push_back(i);
  }
  for (const auto unit : firsts) naive_walk(all, by_unit[unit], depth + 1, out);
}

std::uint32_t naive_common(const prefix::sequence& a, const prefix::sequence& b) {
  std::uint32_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

TEST_CASE("what shares most stands together, siblings in the order of the suite") {
  const std::vector<std::vector<char>> words{{'t', 'e', 's', 't'}, {'s', 'l', 'o', 'w'}, {'t', 'o', 'a'},
                                             {'t', 'e', 'a', 'm'}, {'t', 'e'},           {}};
  // The empty one ends at the root; then t(e(-, st, am), oa), slow.
  CHECK(walk(words) == visits{{5, 0}, {4, 0}, {0, 2}, {3, 2}, {2, 1}, {1, 0}});
}

TEST_CASE("equal sequences keep their order and share their whole length") {
  CHECK(walk<int>({{1, 2}, {1, 2, 3}, {1, 2}, {1, 2}}) == visits{{0, 0}, {2, 2}, {3, 2}, {1, 2}});
}

TEST_CASE("an empty tree visits nothing") { CHECK(walk<int>({}).empty()); }

TEST_CASE("the walk is that of a naive grouping, and what neighbours share is exact") {
  std::mt19937 random(20240611);
  for (int round = 0; round < 300; ++round) {
    std::vector<prefix::sequence> all(random() % 40);
    for (auto& one : all) {
      if (random() % 3 == 0 && &one != all.data()) {
        const auto& from = all[random() % static_cast<std::size_t>(&one - all.data())];
        one.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(random() % (from.size() + 1)));
      }
      for (auto n = random() % 12; n > 0; --n) one.push_back(static_cast<prefix::unit>(random() % 3) - 1);
    }
    std::vector<std::uint32_t> names(all.size());
    for (std::uint32_t i = 0; i < names.size(); ++i) names[i] = i;
    std::vector<std::uint32_t> expected;
    naive_walk(all, names, 0, expected);

    const visits seen = walk(all);
    REQUIRE(seen.size() == expected.size());
    for (std::size_t k = 0; k < seen.size(); ++k) {
      REQUIRE(seen[k].first == expected[k]);
      REQUIRE(seen[k].second == (k == 0 ? 0 : naive_common(all[seen[k - 1].first], all[seen[k].first])));
    }
  }
}

TEST_CASE("a chain of prefixes as deep as the suite is long is walked without recursion") {
  std::vector<prefix::sequence> all(20'000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].assign(std::min<std::size_t>(i, 300) + i / 300, 7);
  const visits seen = walk(all);
  CHECK(seen.size() == all.size());
  CHECK(seen.back().first == all.size() - 1);
}

TEST_CASE("common_prefix agrees with a plain loop at every length") {
  prefix::sequence a(200, 5);
  for (std::size_t cut = 0; cut <= 200; ++cut) {
    prefix::sequence b(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(cut));
    REQUIRE(prefix::common_prefix(a, b) == cut);
    b.push_back(6);
    b.resize(200, 5);
    REQUIRE(prefix::common_prefix(a, b) == cut);
  }
}
