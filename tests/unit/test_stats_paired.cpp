#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <evalcore/stats/paired.hpp>

using namespace evalcore::stats;

TEST_CASE("what items differ by among themselves is no part of a paired difference") {
  // Hard and easy items; the second is better by 0.1 each time, but once.
  const std::vector<pair> pairs{{0.1, 0.2}, {0.9, 1.0}, {0.5, 0.6}, {0.3, 0.3}};
  const auto difference = paired_difference(pairs);
  REQUIRE(difference);
  CHECK(difference->value == doctest::Approx(0.075));
  // Deviations 0.025 (three times) and -0.075: s² = 0.0075 / 3.
  CHECK(*difference->standard_error == doctest::Approx(std::sqrt(0.0025 / 4)));
}

TEST_CASE("pairs of one cluster count together") {
  const std::vector<pair> pairs{{0, 1}, {0, 1}, {1, 0}, {1, 0}};
  const std::vector<std::uint64_t> texts{1, 1, 2, 2};
  const auto difference = paired_difference(pairs, texts);
  CHECK(difference->value == 0);
  CHECK(*difference->standard_error == doctest::Approx(1));  // Sums 2 and -2: sqrt(2 * 8) / 4.
  CHECK(difference->degrees_of_freedom == 1);
  CHECK_FALSE(paired_difference({}));
}

TEST_CASE("McNemar's exact test is that of a fair coin") {
  CHECK(mcnemar_exact(0, 0) == 1);
  CHECK(mcnemar_exact(4, 4) == 1);
  CHECK(mcnemar_exact(0, 5) == doctest::Approx(2.0 / 32));
  CHECK(mcnemar_exact(5, 0) == doctest::Approx(2.0 / 32));
  CHECK(mcnemar_exact(1, 5) == doctest::Approx(2.0 * (1 + 6) / 64));
}

TEST_CASE("Tango's interval has a width also where no pair differs") {
  // sqrt(n m / (1 - m)) = z, so that m = z² / (n + z²).
  const double square = 1.959963984540054 * 1.959963984540054;
  for (const std::uint64_t n : {1U, 44U, 100U, 10'000U}) {
    const auto bounds = tango_interval(0, 0, n);
    CHECK(bounds.high == doctest::Approx(square / (static_cast<double>(n) + square)).epsilon(1e-12));
    CHECK(bounds.low == doctest::Approx(-bounds.high).epsilon(1e-12));
  }
}

TEST_CASE("Tango's interval is that of Fagerland, Lydersen and Laake's example") {
  // Airway hyper-responsiveness of 21 children before and after: 1 against 7 (BMC Medical Research
  // Methodology 14, 2014, 116; three digits).
  const auto bounds = tango_interval(1, 7, 21);
  CHECK(std::fabs(bounds.low - -0.517) < 0.0005);
  CHECK(std::fabs(bounds.high - -0.026) < 0.0005);
}

TEST_CASE("Tango's interval turns with the two sides, and ends at what all pairs can differ by") {
  const auto one = tango_interval(3, 11, 60, 0.9);
  const auto other = tango_interval(11, 3, 60, 0.9);
  CHECK(one.low == doctest::Approx(-other.high).epsilon(1e-12));
  CHECK(one.high == doctest::Approx(-other.low).epsilon(1e-12));
  CHECK(tango_interval(0, 10, 10).low == -1);
  CHECK(tango_interval(10, 0, 10).high == 1);
  CHECK(tango_interval(0, 0, 0) == interval{-1, 1});
}

TEST_CASE("Tango's statistic at the interval's ends is the normal quantile") {
  const auto bounds = tango_interval(4, 9, 200);
  CHECK(tango_statistic(4, 9, 200, bounds.low) == doctest::Approx(1.959963984540054).epsilon(1e-9));
  CHECK(tango_statistic(4, 9, 200, bounds.high) == doctest::Approx(-1.959963984540054).epsilon(1e-9));
  CHECK(std::fabs(tango_statistic(4, 9, 200, -0.025)) < 1e-12);
}
