#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include <evalcore/stats/power.hpp>

using namespace evalcore::stats;

TEST_CASE("the items needed are those of a one-sided t test") {
  // statsmodels 0.14: TTestPower().solve_power(0.5, None, 0.05, 0.8, 'larger') = 26.14, (0.2, …, 0.9) =
  // 215.5.
  CHECK(items_needed({.spread = 1, .margin = 0.5}, 0.8) == 27);
  CHECK(items_needed({.spread = 1, .margin = 0.2}, 0.9) == 216);
  CHECK(items_needed({.spread = 1, .margin = 0.1, .difference = 0.1}, 0.9) == 216);
}

TEST_CASE("the power is just reached by the items needed") {
  const paired_design of{.spread = 0.3, .margin = 0.02};
  const auto n = items_needed(of, 0.8);
  REQUIRE(n);
  CHECK(power_of(of, *n) >= 0.8);
  CHECK(power_of(of, *n - 1) < 0.8);
}

TEST_CASE("at the margin itself the power is the level of the test") {
  CHECK(power_of({.spread = 0.3, .margin = 0.02, .difference = -0.02}, 500) == doctest::Approx(0.05));
  CHECK_FALSE(items_needed({.spread = 0.3, .margin = 0.02, .difference = -0.02}, 0.8));
}

TEST_CASE("the detectable effect of n items has the power asked for") {
  for (const std::uint64_t n : {2U, 30U, 1000U, 1'000'000U}) {
    const auto effect = detectable_effect(0.4, n, 0.8);
    REQUIRE(effect);
    CHECK(power_of({.spread = 0.4, .margin = *effect}, n) == doctest::Approx(0.8).epsilon(1e-6));
  }
  CHECK_FALSE(detectable_effect(0.4, 1, 0.8));
  CHECK(power_of({.spread = 0.4, .margin = 0.5}, 1) == 0);
}

TEST_CASE("few items and a small level need an effect as great as the critical value says") {
  // scipy 1.17: the effect d with nct.sf(t.isf(1e-4, 1), 1, d * sqrt(2)) = 0.8 is 2884.504.
  CHECK(detectable_effect(1, 2, 0.8, 1e-4).value_or(0) == doctest::Approx(2884.504).epsilon(1e-4));
  // So few as can be, at the smallest level of the command: t.isf(1e-9, 1) = 3.1831e8, and 0.8 of |W|
  // < 1.28155.
  CHECK(detectable_effect(1, 2, 0.8, 1e-9).value_or(0) ==
        doctest::Approx(318'309'886.2 * 1.281552 / std::sqrt(2.0)).epsilon(1e-4));
}

TEST_CASE("more than can be counted is absent") {
  CHECK_FALSE(items_needed({.spread = 1, .margin = 1e-6}, 0.8));
}

TEST_CASE("the spread of right-or-wrong differences is that of a variable that is 1, 0 or -1") {
  CHECK(binary_spread(0.1) == doctest::Approx(std::sqrt(0.1)));
  CHECK(binary_spread(0.1, 0.1) == doctest::Approx(0.3));  // 1 or 0: sqrt(0.1 * 0.9).
}
