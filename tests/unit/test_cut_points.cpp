#include <doctest/doctest.h>

#include <evalcore/prefix/cut_points.hpp>

using namespace evalcore;
using prefix::sequence;

namespace {

/// Each unit so many times.
sequence prompt(std::vector<std::pair<prefix::unit, std::size_t>> parts) {
  sequence all;
  for (const auto& [unit, times] : parts) all.insert(all.end(), times, unit);
  return all;
}

std::vector<std::uint32_t> cuts(const std::vector<sequence>& prompts, std::uint32_t item) {
  const auto plan = prefix::make_plan(prompts, true, {});
  return prefix::cut_points(plan).of(item);
}

}  // namespace

TEST_CASE("a prompt is kept where others part from it, whichever goes out first") {
  // A system turn of 100, two tool lists of 50 and 70 below it, and questions.
  const std::vector<sequence> prompts{
      prompt({{1, 100}, {2, 50}, {10, 5}}),
      prompt({{1, 100}, {2, 50}, {11, 5}}),
      prompt({{1, 100}, {3, 70}, {12, 5}}),
      prompt({{1, 100}, {3, 70}, {13, 5}}),
  };
  CHECK(cuts(prompts, 0) == std::vector<std::uint32_t>{100, 150});
  CHECK(cuts(prompts, 1) == std::vector<std::uint32_t>{100, 150});
  CHECK(cuts(prompts, 2) == std::vector<std::uint32_t>{100, 170});
  CHECK(cuts(prompts, 3) == std::vector<std::uint32_t>{100, 170});
}

TEST_CASE("what a suite has in common is kept however large the groups are") {
  std::vector<sequence> prompts;
  for (prefix::unit group = 0; group < 2; ++group) {
    for (prefix::unit item = 0; item < 400; ++item) {
      prompts.push_back(prompt({{1, 100}, {2 + group, 50}, {1'000 + item, 5}}));
    }
  }
  for (const std::uint32_t item : {0U, 100U, 399U, 400U, 799U}) {
    CHECK(cuts(prompts, item) == std::vector<std::uint32_t>{100, 150});
  }
}

TEST_CASE("what is not worth a group of its own is not kept") {
  CHECK(cuts({prompt({{1, 15}, {2, 9}}), prompt({{1, 15}, {3, 9}})}, 0).empty());
  CHECK(cuts({prompt({{1, 16}, {2, 9}}), prompt({{1, 16}, {3, 9}})}, 0) == std::vector<std::uint32_t>{16});
}

TEST_CASE("a prompt that comes again is kept whole") {
  CHECK(cuts({prompt({{1, 40}}), prompt({{1, 40}})}, 0) == std::vector<std::uint32_t>{40});
}
