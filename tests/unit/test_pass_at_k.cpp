#include <doctest/doctest.h>

#include <evalcore/score/pass_at_k.hpp>

using namespace evalcore;

// Binomial coefficients by hand: C(7,5) = 21, C(10,5) = 252, C(3,2) = 3, C(4,2) = 6.
TEST_CASE("pass@k is the chance that one of k is right") {
  CHECK(score::pass_at_k(10, 3, 1) == doctest::Approx(0.3));
  CHECK(score::pass_at_k(10, 3, 5) == doctest::Approx(1 - 21.0 / 252));
  CHECK(score::pass_at_k(10, 0, 5) == 0);
  CHECK(score::pass_at_k(10, 6, 5) == 1);
  CHECK(score::pass_at_k(1, 1, 1) == 1);
}

TEST_CASE("pass^k is the chance that all of k are right") {
  CHECK(score::pass_hat_k(10, 3, 1) == doctest::Approx(0.3));
  CHECK(score::pass_hat_k(4, 3, 2) == doctest::Approx(0.5));
  CHECK(score::pass_hat_k(4, 3, 4) == 0);
  CHECK(score::pass_hat_k(4, 4, 4) == 1);
  CHECK(score::pass_hat_k(4, 0, 1) == 0);
}
