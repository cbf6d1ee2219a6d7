// Texts and choices judged by how likely they are. The formulas are those of lm-eval's brier_score,
// perplexity, word_perplexity, byte_perplexity and bits_per_byte; tests/oracle compares with them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

score::verdict judge(std::string_view named, std::string_view target, const std::vector<std::string>& choices,
                     std::vector<chat::loglikelihood> told) {
  const auto scorer = score::find_scorer(named);
  const auto parsed = json::parse(target);
  REQUIRE(scorer);
  REQUIRE(parsed);
  const score::task task{.target = &*parsed, .choices = &choices};
  CHECK((*scorer)->check(task));
  chat::reply answer;
  answer.choices = std::move(told);
  return (*scorer)->score(task, answer);
}

std::map<std::string_view, double> further(const score::verdict& of) {
  std::map<std::string_view, double> out;
  for (const auto& one : of.further) out.emplace(one.metric, one.value);
  return out;
}

}  // namespace

TEST_CASE("brier: the squared distance of the likelihoods from an answer that is sure and right") {
  // Three to one: (3/4 - 1)^2 + (1/4)^2, and the other way round (3/4)^2 + (1/4 - 1)^2.
  const std::vector<chat::loglikelihood> sums{{.sum_logprob = std::log(0.03)},
                                              {.sum_logprob = std::log(0.01)}};
  const auto right = judge("brier", "0", {" yes", " no"}, sums);
  CHECK(right.scored);
  CHECK(right.value == 1);
  CHECK(further(right).at("brier_score") == doctest::Approx(0.125));
  CHECK(further(right).at("acc_norm") == 1);
  const auto wrong = judge("brier", "1", {" yes", " no"}, sums);
  CHECK(wrong.value == 0);
  CHECK(further(wrong).at("brier_score") == doctest::Approx(1.125));
}

TEST_CASE("reported: a Brier score is of all choices, also where only some of them are ever right") {
  const std::vector<std::string> choices{" a", " b", " c", " d"};
  const std::vector<chat::loglikelihood> equal(4, {.sum_logprob = -1});
  // A quarter each: (1/4 - 1)^2 + 3 (1/4)^2.
  for (const char* target : {"0", "1"})
    CHECK(further(judge("brier", target, choices, equal)).at("brier_score") == doctest::Approx(0.75));
}

TEST_CASE("brier: likelihoods below what a double holds keep their proportions") {
  const auto out =
      judge("brier", "0", {" a", " b"}, {{.sum_logprob = -9000 + std::log(3.0)}, {.sum_logprob = -9000}});
  CHECK(further(out).at("brier_score") == doctest::Approx(0.125));
  const double never = -std::numeric_limits<double>::infinity();
  const auto none = judge("brier", "0", {" a", " b"}, {{.sum_logprob = never}, {.sum_logprob = never}});
  CHECK_FALSE(none.scored);
  CHECK(none.reason == "the reply finds every choice impossible");
}

TEST_CASE("perplexity: a text counts as one, by its words as lm-eval counts them, and by its bytes") {
  const auto out = judge("perplexity", R"(" h\u00e9 \u3000ho")", {" h\u00e9 \u3000ho"},
                         {{.sum_logprob = -2.5, .is_greedy = true, .tokens = 2}});
  CHECK(out.scored);
  CHECK(out.value == 1);
  REQUIRE(out.further.size() == 4);
  for (const auto& one : out.further) CHECK(one.value == -2.5);
  // re.split(r"\s+", …) has "", "hé" and "ho"; UTF-8 has 1 + 3 + 1 + 3 + 2 bytes.
  CHECK(out.further[0].weight == 1);
  CHECK(out.further[1].weight == 3);
  CHECK(out.further[2].weight == 10);
  CHECK(out.further[3].weight == 10);
}

TEST_CASE(
    "perplexity: a backend that does not tell the likeliest token leaves acc unscored, and the rest known") {
  const auto out = judge("perplexity", R"(" x")", {" x"}, {{.sum_logprob = -1}});
  CHECK_FALSE(out.scored);
  CHECK(out.further.size() == 4);
  const auto wrong = judge("perplexity", R"(" x")", {" x"}, {{.sum_logprob = -1, .is_greedy = false}});
  CHECK(wrong.scored);
  CHECK(wrong.value == 0);
}

TEST_CASE("perplexity: a reply without a finite likelihood has none of its figures") {
  for (const auto& told : std::vector<std::vector<chat::loglikelihood>>{
           {}, {{.sum_logprob = -std::numeric_limits<double>::infinity(), .is_greedy = false}}}) {
    const auto out = judge("perplexity", R"(" x")", {" x"}, told);
    CHECK_FALSE(out.scored);
    CHECK(out.further.empty());
    CHECK_FALSE(out.reason.empty());
  }
}

TEST_CASE("perplexity: an item without the text to measure is refused before anything is sent") {
  const auto scorer = *score::find_scorer("perplexity");
  const json::value target("x");
  const std::vector<std::string> none;
  CHECK_FALSE(scorer->check({.target = &target, .choices = &none}));
  CHECK_FALSE(scorer->check({.target = &target}));
}
