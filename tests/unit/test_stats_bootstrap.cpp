#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evalcore/stats/bootstrap.hpp>

using namespace evalcore::stats;

namespace {

std::vector<std::array<double, 2>> scores(std::size_t right, std::size_t n) {
  std::vector<std::array<double, 2>> items;
  for (std::size_t i = 0; i < n; ++i) items.push_back({i < right ? 1.0 : 0.0, 1.0});
  return items;
}

std::vector<double> replicates(const std::vector<std::array<double, 2>>& items, std::uint64_t seed,
                               std::uint64_t first, std::size_t count) {
  return bootstrap_replicates<2>(items, seed, first, count, ratio_of_sums);
}

}  // namespace

TEST_CASE("reported: a bootstrap is the same in any order and in any parts, by its seed") {
  const auto items = scores(37, 101);
  const auto whole = replicates(items, 7, 0, 200);
  std::vector<double> parts;
  for (int part = 3; part >= 0; --part) {
    const auto some = replicates(items, 7, static_cast<std::uint64_t>(part) * 50, 50);
    parts.insert(parts.begin(), some.begin(), some.end());
  }
  CHECK(parts == whole);
  CHECK(replicates(items, 8, 0, 200) != whole);
}

TEST_CASE("a resample draws as many items as there are, each about as often") {
  for (const std::size_t n : {1U, 2U, 7U, 100U}) {
    std::vector<int> drawn(n);
    for (std::uint64_t number = 0; number < 1000; ++number) {
      int count = 0;
      resample(1, number).draw(n, [&](std::size_t index) {
        REQUIRE(index < n);
        drawn[index] += 1;
        ++count;
      });
      CHECK(count == static_cast<int>(n));
    }
    // A count of 1000 n throws at 1 / n has a standard deviation below sqrt(1000).
    for (const int count : drawn) CHECK(std::abs(count - 1000) < 5 * std::sqrt(1000.0));
  }
}

TEST_CASE("the bootstrap of a rate has the binomial's standard error and quantiles") {
  const auto found = summarize(replicates(scores(30, 100), 20'261'130, 0, 20'000));
  REQUIRE(found);
  CHECK(found->standard_error == doctest::Approx(std::sqrt(0.3 * 0.7 / 100)).epsilon(0.02));
  // scipy 1.17: binom.ppf(0.025, 100, 0.3) = 21, (0.975) = 39.
  CHECK(found->bounds.low == doctest::Approx(0.21));
  CHECK(found->bounds.high == doctest::Approx(0.39));
  CHECK(found->undefined == 0);
}

TEST_CASE("a ratio that a resample leaves without a denominator is counted, not taken as 0") {
  const std::vector<std::array<double, 2>> items{{2, 2},
                                                 {0, 0}};  // Both draws give the second one time in four.
  const auto found = summarize(replicates(items, 1, 0, 4000));
  REQUIRE(found);
  CHECK(found->undefined > 900);
  CHECK(found->undefined < 1100);
  CHECK(found->bounds == interval{1, 1});
  CHECK_FALSE(summarize({}));
  CHECK_FALSE(summarize({1.0, std::nan("")}));
}

TEST_CASE("quantiles between replicates are interpolated") {
  // numpy 2: quantile([1, 2, 3, 4], 0.05) = 1.15, (0.95) = 3.85.
  const auto found = summarize({4, 1, 3, 2}, 0.9);
  CHECK(found->bounds.low == doctest::Approx(1.15));
  CHECK(found->bounds.high == doctest::Approx(3.85));
}
