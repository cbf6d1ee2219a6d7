#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <evalcore/stats/rate.hpp>

using evalcore::stats::exact_bounds;
using evalcore::stats::wilson_interval;

TEST_CASE("the exact interval of a rate is that of scipy's binomtest") {
  // scipy 1.17.1: binomtest(k, n).proportion_ci(method='exact').
  struct row {
    std::uint64_t seen;
    std::uint64_t trials;
    double low;
    double high;
  };
  constexpr row rows[] = {
      {18, 40, 0.29258835003987993, 0.6150932054659867},
      {1, 100, 0.00025314603268189283, 0.054459385392080666},
      {3, 60, 0.010432329644348218, 0.13924324672110006},
      {250'000, 1'000'000, 0.2491515356855458, 0.25084991259633516},
  };
  for (const auto& row : rows) {
    CAPTURE(row.seen);
    CHECK(exact_bounds(row.seen, row.trials).low == doctest::Approx(row.low).epsilon(1e-9));
    CHECK(exact_bounds(row.seen, row.trials).high == doctest::Approx(row.high).epsilon(1e-9));
  }
}

TEST_CASE("a rate that was never seen, or always, has a bound at the other end alone") {
  // With the rate p nothing is seen in n with probability (1 - p)^n; at the bound that is 2.5 %.
  for (const std::uint64_t trials : {1U, 40U, 300U}) {
    const double bound = 1 - std::pow(0.025, 1 / static_cast<double>(trials));
    CHECK(exact_bounds(0, trials).low == 0);
    CHECK(exact_bounds(0, trials).high == doctest::Approx(bound).epsilon(1e-12));
    CHECK(exact_bounds(trials, trials).low == doctest::Approx(1 - bound).epsilon(1e-12));
    CHECK(exact_bounds(trials, trials).high == 1);
  }
  CHECK(exact_bounds(0, 0).low == 0);
  CHECK(exact_bounds(0, 0).high == 1);
}

TEST_CASE("the score interval of a rate is that of Newcombe's table") {
  // Newcombe, Statistics in Medicine 17, 1998, 857-872, table I, method 3: four digits.
  struct row {
    std::uint64_t seen;
    std::uint64_t trials;
    double low;
    double high;
  };
  constexpr row rows[] = {
      {81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0000, 0.1611}, {1, 29, 0.0061, 0.1718}};
  for (const auto& row : rows) {
    CAPTURE(row.seen);
    CHECK(std::fabs(wilson_interval(row.seen, row.trials).low - row.low) < 0.00005);
    CHECK(std::fabs(wilson_interval(row.seen, row.trials).high - row.high) < 0.00005);
  }
}

TEST_CASE("the score interval of nothing seen, or of all, ends where it was seen") {
  for (const std::uint64_t trials : {1U, 3U, 7U, 1000U}) {
    CHECK(wilson_interval(0, trials).low == 0);
    CHECK(wilson_interval(trials, trials).high == 1);
    CHECK(wilson_interval(0, trials).high == doctest::Approx(1 - wilson_interval(trials, trials).low));
  }
  CHECK(wilson_interval(0, 0) == evalcore::stats::interval{0, 1});
}
