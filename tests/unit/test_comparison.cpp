#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/comparison.hpp>
#include <evalcore/run/gate.hpp>

#include "unit/comparable_runs.hpp"

using namespace evalcore;
using test::counted_runs;
using test::two_runs;

TEST_CASE("runs are compared by the items that both scored, and the rest is shown") {
  const auto runs = two_runs({1, 0, 1, std::nullopt, 1}, {1, 1, 0, 1, std::nullopt});
  const auto between = run::compare(runs, 0, 1);
  CHECK(between.paired.pairs == 3);
  REQUIRE(between.pairs.size() == 3);
  CHECK(between.pairs[1].first == 0);
  CHECK(between.pairs[1].second == 1);
  CHECK(between.paired.first == doctest::Approx(2.0 / 3));
  CHECK(between.paired.better == 1);
  CHECK(between.paired.worse == 1);
  CHECK(between.paired.p == 1.0);
  CHECK(between.changed == std::vector<std::size_t>{1, 2});
  CHECK(between.missing == std::vector<std::size_t>{3, 4});
  // Worst: 0 over the pairs, 1 - 1 and 0 - 1; best: 1 - 0 and 1 - 1.
  CHECK(between.difference_bounds.low == doctest::Approx(-0.2));
  CHECK(between.difference_bounds.high == doctest::Approx(0.2));
  const auto root = run::comparison_json(runs, std::vector{between});
  const auto& told = root.find("comparisons")->if_array()->front();
  CHECK(json::to_text(told.find("missing")->if_array()->front()) ==
        R"({"id":"i3","category":null,"first":{"state":"errored","value":null,"why":"timeout"},)"
        R"("second":{"state":"scored","value":1.0,"why":null}})");
  CHECK(json::to_text(*root.find("runs")->if_array()->front().find("score_bounds")) == "[0.6,0.8]");
}

TEST_CASE("right-or-wrong differences have Tango's interval, parts of points Student's") {
  const auto binary = run::compare(counted_runs(7, 1, 1, 12), 0, 1).paired;
  CHECK(binary.kind() == "tango");
  REQUIRE(binary.bounds);
  CHECK(std::fabs(binary.bounds->low - -0.517) < 0.0005);  // Fagerland, Lydersen and Laake 2014.
  CHECK(binary.p == doctest::Approx(2.0 * 9 / 256));
  const auto parts = run::compare(two_runs({0.5, 0, 1}, {0.75, 0.5, 1}), 0, 1).paired;
  CHECK(parts.kind() == "t");
  CHECK_FALSE(parts.p);
  REQUIRE(parts.bounds);
  // Differences 0.25, 0.5, 0: mean 0.25, standard error 0.25 / sqrt(3), t of two degrees 4.3027.
  CHECK(parts.bounds->high == doctest::Approx(0.25 + 4.3027 * 0.25 / std::sqrt(3.0)).epsilon(1e-4));
}

TEST_CASE("no common item is no difference, and not 0") {
  const auto runs = two_runs({1, std::nullopt}, {std::nullopt, 0});
  const auto between = run::compare(runs, 0, 1);
  CHECK(between.paired.pairs == 0);
  CHECK_FALSE(between.paired.bounds);
  CHECK(run::to_json(between.paired).find("difference")->is_null());
}

TEST_CASE("categories are compared each by itself") {
  auto runs = two_runs({1, 1, 0, 0}, {1, 0, 1, 1});
  runs.categories = {"easy", "easy", "hard", "hard"};
  const auto between = run::compare(runs, 0, 1);
  REQUIRE(between.categories.size() == 2);
  CHECK(between.categories[0].name == "easy");
  CHECK(between.categories[0].paired.difference() == doctest::Approx(-0.5));
  CHECK(between.categories[1].paired.difference() == doctest::Approx(1));
}

TEST_CASE("a gate passes what is shown to be no worse, and says so only with enough items") {
  CHECK(run::gate({counted_runs(5, 5, 400, 590)}, {.margin = 0.02}).verdict == run::gate_verdict::pass);
  CHECK(run::gate({counted_runs(1, 1, 20, 28)}, {.margin = 0.02}).verdict == run::gate_verdict::inconclusive);
  CHECK(run::gate({counted_runs(80, 5, 400, 515)}, {.margin = 0.02}).verdict == run::gate_verdict::fail);
  CHECK(run::gate({run::scored_runs{"", {}, {}, {{}, {}}}}, {}).verdict == run::gate_verdict::inconclusive);
}

TEST_CASE("a missing item speaks against the candidate") {
  auto runs = counted_runs(5, 5, 400, 590);
  for (std::size_t i = 0; i < 30; ++i) runs.runs[1].items[10 + i] = {run::item_state::errored, 0, "timeout"};
  const auto report = run::gate({runs}, {.margin = 0.02});
  CHECK(report.verdict == run::gate_verdict::fail);  // 30 of 1000 lost at worst.
  CHECK(report.suites[0].paired->at(0.05) == stats::conclusion::non_inferior);
  CHECK(report.suites[0].worst->difference == doctest::Approx(-0.03));
}

TEST_CASE("an item that the baseline misses speaks against the candidate, too") {
  auto runs = counted_runs(0, 0, 0, 200);
  for (std::size_t i = 0; i < 20; ++i) runs.runs[0].items[i] = {};
  const auto report = run::gate({runs}, {.margin = 0.02});
  CHECK(report.verdict == run::gate_verdict::fail);
  CHECK(report.suites[0].worst->difference == doctest::Approx(-0.1));
}

TEST_CASE("the test that a gate names is the one that decides, with the missing items' scores") {
  // Both scored right-or-wrong items alone; what the candidate misses has half a point in the baseline.
  const auto runs = two_runs({1, 0, 0.5}, {1, 0, std::nullopt});
  const auto report = run::gate({runs}, {});
  CHECK(report.suites[0].between.paired.kind() == "tango");
  CHECK(json::to_text(*run::to_json(report).find("suites")->if_array()->front().find("test")) == "\"t\"");
  // Differences 0, 0, -0.5.
  CHECK(report.suites[0].worst->difference == doctest::Approx(-0.5 / 3));
  CHECK(run::gate({two_runs({1, 0, 0}, {1, 0, std::nullopt})}, {}).suites[0].test == "tango");
}

TEST_CASE("several suites pass only together, and one that is inferior among many must be so beyond doubt") {
  const auto good = counted_runs(5, 5, 400, 590);
  const auto open = counted_runs(1, 1, 20, 28);
  // One-sided p of about 0.03 alone.
  const auto doubtful = counted_runs(15, 2, 200, 83);
  CHECK(run::gate({good, good}, {}).verdict == run::gate_verdict::pass);
  CHECK(run::gate({good, open}, {}).verdict == run::gate_verdict::inconclusive);
  const auto alone = run::gate({doubtful}, {});
  CHECK(alone.suites[0].p_inferior_adjusted < 0.05);
  CHECK(alone.suites[0].p_inferior_adjusted > 0.025);
  CHECK(alone.verdict == run::gate_verdict::fail);
  CHECK(run::gate({good, doubtful}, {}).verdict == run::gate_verdict::inconclusive);
}

TEST_CASE("a gate tells what its items could show") {
  const auto report = run::gate({counted_runs(50, 50, 400, 500)}, {.margin = 0.02, .power = 0.8});
  const auto& one = report.suites[0];
  // Spread sqrt(0.1); (1.645 + 0.842)² · 0.1 / 0.02² = 1546 by the normal distribution.
  REQUIRE(one.items_needed);
  CHECK(*one.items_needed == doctest::Approx(1547).epsilon(0.002));
  CHECK(*one.detectable_effect == doctest::Approx(2.4865 * std::sqrt(0.1 / 1000)).epsilon(0.002));
  const auto root = run::to_json(report);
  CHECK(json::to_text(*root.find("verdict")) == "\"pass\"");  // z = 0.02 / sqrt(0.1 / 1000) = 2.
  CHECK(root.find("suites")->if_array()->front().find("power")->if_double() != nullptr);
}
