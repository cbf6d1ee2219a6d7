#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include <evalcore/stats/multiplicity.hpp>
#include <evalcore/stats/sequential.hpp>

using namespace evalcore::stats;

TEST_CASE("Holm's adjusted p-values, by hand") {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  // 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04, which is no smaller than the one before.
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  const auto adjusted = holm(p);
  REQUIRE(adjusted.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(adjusted[i] == doctest::Approx(expected[i]));
  CHECK(holm({}).empty());
  CHECK(holm(std::vector<double>{0.9, 0.8}) == std::vector<double>{1, 1});
}

TEST_CASE("each of several holds as surely as the least sure") {
  CHECK(intersection_union(std::vector<double>{0.01, 0.04, 0.03}) == 0.04);
  CHECK(intersection_union({}) == 1);
}

TEST_CASE("bounds of five equal looks are those of the published table") {
  // One side of 0.025, O'Brien-Fleming-type spending: Reboussin, DeMets, Kim and Lan, Controlled Clinical
  // Trials 21, 2000, and gsDesign's sfLDOF; three digits.
  const std::vector<double> fractions{0.2, 0.4, 0.6, 0.8, 1};
  const std::vector<double> expected{4.877, 3.357, 2.680, 2.290, 2.031};
  const auto looks = obrien_fleming_looks(fractions, 0.025);
  REQUIRE(looks.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(std::fabs(looks[i].z - expected[i]) < 0.0005);
  }
  // scipy 1.17: the root of a quad() over the first look, to 1e-12.
  CHECK(looks[1].z == doctest::Approx(3.3570119215746423).epsilon(1e-8));
  CHECK(looks.back().spent == doctest::Approx(0.025));
}

TEST_CASE("one look at the end is the plain test") {
  const auto looks = obrien_fleming_looks(std::vector<double>{1}, 0.05);
  REQUIRE(looks.size() == 1);
  CHECK(looks[0].z == doctest::Approx(1.6448536269514722));
  CHECK(looks[0].p == doctest::Approx(0.05));
}

TEST_CASE("a look at almost nothing stops never") {
  const auto looks = obrien_fleming_looks(std::vector<double>{0.0005, 1}, 0.05);
  CHECK(std::isinf(looks[0].z));
  CHECK(looks[0].p == 0);
  CHECK(looks[1].z == doctest::Approx(1.6448536).epsilon(1e-6));
}
