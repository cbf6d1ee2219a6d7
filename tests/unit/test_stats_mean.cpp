#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <evalcore/stats/mean.hpp>

using namespace evalcore::stats;

TEST_CASE("the standard error of a mean is s / sqrt(n)") {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};  // Squares of the deviations from 5 sum to 32.
  const auto mean = mean_of(values);
  REQUIRE(mean);
  CHECK(mean->value == 5);
  CHECK(mean->n == 8);
  CHECK(*mean->standard_error == doctest::Approx(std::sqrt(32.0 / 7 / 8)).epsilon(1e-14));
  CHECK(mean->degrees_of_freedom == 7);
}

TEST_CASE("a mean by its sums is that of the values") {
  const std::vector<double> values{0, 0.25, 1, 1, 0.5};
  const auto whole = mean_of(values);
  const auto by_sums = mean_from_sums(5, 2.75, 2.3125);
  REQUIRE(by_sums);
  CHECK(by_sums->value == whole->value);
  CHECK(*by_sums->standard_error == doctest::Approx(*whole->standard_error).epsilon(1e-14));
  CHECK(*mean_from_sums(3, 0.3, 0.03)->standard_error < 1e-8);  // Three times 0.1, and rounding.
}

TEST_CASE("what one value does not tell is absent, and so is the mean of nothing") {
  CHECK_FALSE(mean_of({}));
  CHECK_FALSE(mean_from_sums(0, 0, 0));
  CHECK_FALSE(clustered_mean({}, {}));
  CHECK_FALSE(stratified_mean({}));
  const std::vector<double> one{0.5};
  CHECK(mean_of(one)->value == 0.5);
  CHECK_FALSE(mean_of(one)->standard_error);
  CHECK_FALSE(mean_from_sums(1, 0.5, 0.25)->standard_error);
  CHECK_FALSE(t_interval(*mean_of(one)));
}

TEST_CASE("answers that are alike within clusters count as few") {
  const std::vector<double> values{1, 1, 0, 0};
  const std::vector<std::uint64_t> clusters{7, 7, 3, 3};
  const auto mean = clustered_mean(values, clusters);
  REQUIRE(mean);
  // Sums of residuals 1 and -1; sqrt(2 / 1 * (1 + 1)) / 4.
  CHECK(*mean->standard_error == doctest::Approx(0.5).epsilon(1e-14));
  CHECK(mean->degrees_of_freedom == 1);
  CHECK(*mean->standard_error > *mean_of(values)->standard_error);
}

TEST_CASE("a cluster for each value changes nothing") {
  const std::vector<double> values{0.1, 0.9, 0.4, 0.4, 1};
  const std::vector<std::uint64_t> clusters{9, 2, 5, 1, 0};
  CHECK(*clustered_mean(values, clusters)->standard_error ==
        doctest::Approx(*mean_of(values)->standard_error).epsilon(1e-14));
}

TEST_CASE("reported: one cluster has a mean and no standard error, and no division by zero") {
  const std::vector<double> values{0, 1, 1};
  const std::vector<std::uint64_t> clusters{4, 4, 4};
  const auto mean = clustered_mean(values, clusters);
  REQUIRE(mean);
  CHECK(mean->value == doctest::Approx(2.0 / 3));
  CHECK_FALSE(mean->standard_error);
  CHECK_FALSE(t_interval(*mean));
}

TEST_CASE("a macro average weighs strata alike, whatever their sizes") {
  const std::vector<estimate> strata{{0.8, 10, 0.1, 9}, {0.6, 1000, 0.2, 9}};
  const auto macro = stratified_mean(strata);
  REQUIRE(macro);
  CHECK(macro->value == doctest::Approx(0.7));
  CHECK(macro->n == 1010);
  CHECK(*macro->standard_error == doctest::Approx(std::sqrt(0.01 + 0.04) / 2).epsilon(1e-14));
  CHECK(macro->degrees_of_freedom == doctest::Approx(9 * 0.0025 / 0.0017));  // 0.05² / (0.1⁴/9 + 0.2⁴/9)
}

TEST_CASE("a stratum of one item leaves a macro average without a standard error") {
  const std::vector<estimate> strata{{0.8, 10, 0.1, 9}, {1, 1, std::nullopt, 0}};
  CHECK(stratified_mean(strata)->value == doctest::Approx(0.9));
  CHECK_FALSE(stratified_mean(strata)->standard_error);
}

TEST_CASE("strata without spread have an interval without width") {
  const std::vector<estimate> strata{{1, 10, 0.0, 9}, {0, 10, 0.0, 9}};
  CHECK(*t_interval(*stratified_mean(strata)) == interval{0.5, 0.5});
}

TEST_CASE("a t interval is wide where degrees of freedom are few") {
  // Tables of Student's t: 12.706 for one degree at 95 %, 2.262 for nine.
  CHECK(t_interval({0.5, 2, 0.1, 1})->high == doctest::Approx(0.5 + 1.2706).epsilon(1e-4));
  CHECK(t_interval({0.5, 10, 0.1, 9})->low == doctest::Approx(0.5 - 0.2262).epsilon(1e-4));
  CHECK(t_interval({0.5, 10, 0.1, 9}, 0.9)->low == doctest::Approx(0.5 - 0.1833).epsilon(1e-4));
}
