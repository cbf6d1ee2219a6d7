#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include <evalcore/stats/noninferiority.hpp>

using namespace evalcore::stats;

TEST_CASE("few equal pairs show nothing, many show non-inferiority") {
  // sqrt(n m / (1 - m)) > 1.6449 with m = 0.02 from n = 133 on.
  CHECK(compare_binary(0, 0, 132, 0.02).at(0.05) == conclusion::inconclusive);
  CHECK(compare_binary(0, 0, 133, 0.02).at(0.05) == conclusion::non_inferior);
}

TEST_CASE("a loss beyond the margin is told apart from too few items") {
  CHECK(compare_binary(2, 60, 500, 0.02).at(0.05) == conclusion::inferior);
  CHECK(compare_binary(2, 6, 50, 0.02).at(0.05) == conclusion::inconclusive);
  CHECK(compare_binary(30, 10, 500, 0.02).at(0.05) == conclusion::non_inferior);
}

TEST_CASE("bounds and p-values of right-or-wrong scores say the same") {
  constexpr double margin = 0.05;
  for (std::uint64_t lost = 0; lost <= 40; ++lost) {
    const auto test = compare_binary(6, lost, 150, margin);
    CAPTURE(lost);
    CHECK((test.bounds.low > -margin) == (test.at(0.05) == conclusion::non_inferior));
    CHECK((test.bounds.high < -margin) == (test.at(0.05) == conclusion::inferior));
    CHECK(test.p_non_inferior + test.p_inferior == doctest::Approx(1));
  }
}

TEST_CASE("bounds and p-values of scores with parts say the same") {
  constexpr double margin = 0.05;
  for (int shift = -30; shift <= 10; ++shift) {
    std::vector<double> differences;
    for (int i = 0; i < 80; ++i) differences.push_back(shift * 0.01 + 0.02 * (i % 7 - 3));
    const auto test = compare_scores(differences, margin);
    REQUIRE(test);
    CAPTURE(shift);
    CHECK((test->bounds.low > -margin) == (test->at(0.05) == conclusion::non_inferior));
    CHECK((test->bounds.high < -margin) == (test->at(0.05) == conclusion::inferior));
  }
}

TEST_CASE("items that all score alike are no proof while they are few") {
  // 0.95^58 > 0.05 > 0.95^59.
  CHECK(compare_scores(std::vector<double>(58, 0.0), 0.05)->at(0.05) == conclusion::inconclusive);
  CHECK(compare_scores(std::vector<double>(59, 0.0), 0.05)->at(0.05) == conclusion::non_inferior);
  CHECK(compare_scores(std::vector<double>(2, -0.5), 0.05)->at(0.05) == conclusion::inconclusive);
  CHECK(compare_scores(std::vector<double>(59, -0.5), 0.05)->at(0.05) == conclusion::inferior);
  CHECK_FALSE(compare_scores(std::vector<double>(1, 0.0), 0.05));
  CHECK_FALSE(compare_scores({}, 0.05));
}

TEST_CASE("no pairs show nothing") {
  CHECK(compare_binary(0, 0, 0, 0.05).at(0.05) == conclusion::inconclusive);
  CHECK(compare_binary(0, 0, 0, 0.05).bounds == interval{-1, 1});
  CHECK(name(conclusion::inconclusive) == "inconclusive");
}

TEST_CASE("a loss of the margin passes about as seldom as the test says") {
  // The exact probability that the test passes when the loss is the margin, over all outcomes of n items;
  // `differing` is the share of items that are right in one run alone.
  constexpr double alpha = 0.05;
  struct at {
    std::uint64_t n;
    double margin;
    double differing;
  };
  // The worst of margins 0.02 to 0.1 and shares up to 0.4 for 50, 100 and 200 items, and two from the middle.
  constexpr at boundary[] = {
      {50, 0.02, 0.10}, {100, 0.10, 0.10}, {200, 0.03, 0.03}, {100, 0.05, 0.20}, {200, 0.05, 0.30}};
  for (const auto& [n, margin, differing] : boundary) {
    const double lost_rate = (differing + margin) / 2;
    const double gained_rate = (differing - margin) / 2;
    const auto count = static_cast<double>(n);
    double passes = 0;
    for (std::uint64_t lost = 0; lost <= n; ++lost) {
      for (std::uint64_t gained = 0; gained + lost <= n; ++gained) {
        if (gained_rate == 0 && gained > 0) break;
        if (compare_binary(gained, lost, n, margin).at(alpha) != conclusion::non_inferior) continue;
        const auto l = static_cast<double>(lost);
        const auto g = static_cast<double>(gained);
        passes +=
            std::exp(std::lgamma(count + 1) - std::lgamma(l + 1) - std::lgamma(g + 1) -
                     std::lgamma(count - l - g + 1) + l * std::log(lost_rate) +
                     (gained > 0 ? g * std::log(gained_rate) : 0) + (count - l - g) * std::log1p(-differing));
      }
    }
    CAPTURE(n);
    CAPTURE(margin);
    CAPTURE(differing);
    CHECK(passes < 0.06);
    CHECK(passes > 0.02);
  }
}
