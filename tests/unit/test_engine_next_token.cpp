#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/continuation_scores.hpp"
#include "engine/next_token.hpp"

using namespace evalcore::engine;

namespace {

const float ln2 = std::log(2.0F);
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("probabilities of one, two and two fifths: the likeliest is the lower of the equal ones") {
  const std::vector<float> logits{0, ln2, ln2};
  const next_token next(logits);
  CHECK(next.likeliest() == 1);
  CHECK(next.logprob(0) == doctest::Approx(std::log(0.2)));
  CHECK(next.logprob(2) == doctest::Approx(std::log(0.4)));
  const auto top = next.top(2);
  REQUIRE(top.size() == 2);
  CHECK(top[0].id == 1);
  CHECK(top[1].id == 2);
  CHECK(top[1].logprob == doctest::Approx(std::log(0.4)));
  CHECK(next.top(9).size() == 3);
}

TEST_CASE("scores far apart neither overflow nor vanish") {
  const std::vector<float> logits{1000, 0};
  const next_token next(logits);
  CHECK(next.logprob(0) == 0);
  CHECK(next.logprob(1) == doctest::Approx(-1000));
}

TEST_CASE("where no score is a number there is no likeliest token and no probability") {
  const std::vector<float> logits{not_a_number, not_a_number};
  CHECK(next_token(logits).likeliest() == -1);
  CHECK(std::isnan(next_token(logits).logprob(0)));
  const std::vector<float> some{not_a_number, 3, not_a_number};
  CHECK(next_token(some).likeliest() == 1);
}

TEST_CASE("continuations: the prompt's end tells of their first tokens, and the last token is not computed") {
  const std::vector<float> even{0, 0};
  const std::vector<float> uneven{0, std::log(3.0F)};  // A quarter and three quarters.
  continuation_scores scores({{1}, {0, 1, 0}});
  CHECK(scores.wanted());
  CHECK(scores.left() == 0);
  scores.at_end_of_prompt(next_token(uneven));
  auto first = scores.finished();
  REQUIRE(first);
  CHECK(first->continuation == 0);
  CHECK(first->sum_logprob == doctest::Approx(std::log(0.75)));
  CHECK(first->is_greedy);
  CHECK_FALSE(first->last);
  CHECK_FALSE(scores.finished());
  CHECK(scores.left() == 2);
  CHECK(scores.at(0) == 0);
  CHECK(scores.at(1) == 1);
  scores.add(next_token(uneven));
  scores.add(next_token(even));
  const auto second = scores.finished();
  REQUIRE(second);
  CHECK(second->continuation == 1);
  CHECK(second->sum_logprob == doctest::Approx(std::log(0.25 * 0.75 * 0.5)));
  CHECK_FALSE(second->is_greedy);
  CHECK(second->last);
  CHECK_FALSE(scores.finished());
}
