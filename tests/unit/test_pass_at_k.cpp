#include <doctest/doctest.h>

#include <cstdint>

#include <evalcore/score/pass_at_k.hpp>

using namespace evalcore;

// Binomial coefficients by hand: C(7,5) = 21, C(10,5) = 252, C(3,2) = 3, C(4,2) = 6.
TEST_CASE("pass@k is the chance that one of k is right") {
  CHECK(*score::pass_at_k(10, 3, 1) == doctest::Approx(0.3));
  CHECK(*score::pass_at_k(10, 3, 5) == doctest::Approx(1 - 21.0 / 252));
  CHECK(score::pass_at_k(10, 0, 5) == 0);
  CHECK(score::pass_at_k(10, 6, 5) == 1);
  CHECK(score::pass_at_k(1, 1, 1) == 1);
}

TEST_CASE("pass^k is the chance that all of k are right") {
  CHECK(*score::pass_hat_k(10, 3, 1) == doctest::Approx(0.3));
  CHECK(*score::pass_hat_k(4, 3, 2) == doctest::Approx(0.5));
  CHECK(score::pass_hat_k(4, 3, 4) == 0);
  CHECK(score::pass_hat_k(4, 4, 4) == 1);
  CHECK(score::pass_hat_k(4, 0, 1) == 0);
}

TEST_CASE("reported: fewer answers than k say nothing of k, whether any was right or none") {
  CHECK_FALSE(score::pass_at_k(2, 0, 5));
  CHECK_FALSE(score::pass_at_k(2, 2, 5));
  CHECK_FALSE(score::pass_hat_k(2, 2, 5));
  CHECK_FALSE(score::pass_at_k(0, 0, 1));
  CHECK_FALSE(score::pass_at_k(3, 1, 0));
}

TEST_CASE("reported: n is the answers to one problem, not the problems") {
  // 120 problems with an answer each, 40 of them right: nothing is known of ten answers to any of them.
  for (const std::uint64_t right : {0U, 1U}) CHECK_FALSE(score::pass_at_k(1, right, 10));
}

TEST_CASE(
    "reported: an answer that could not be judged is a failure or is left out, by what is passed as n") {
  CHECK(*score::pass_hat_k(4, 2, 2) == doctest::Approx(1.0 / 6));
  CHECK(*score::pass_hat_k(3, 2, 2) == doctest::Approx(1.0 / 3));
}
