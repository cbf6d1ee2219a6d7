// Choices judged by their likelihoods. The rules are those of lm-eval's multiple_choice tasks: acc takes the
// greatest sum, acc_norm the greatest sum for a character, and of equals both take the first.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

struct judged {
  score::verdict verdict;
  double acc_norm = -1;
};

judged judge(std::string_view target, const std::vector<std::string>& choices,
             const std::vector<double>& sums) {
  const auto scorer = score::find_scorer("choice");
  const auto parsed = json::parse(target);
  REQUIRE(scorer);
  REQUIRE(parsed);
  CHECK((*scorer)->metric() == "acc");
  REQUIRE((*scorer)->further_metrics().size() == 1);
  CHECK((*scorer)->further_metrics()[0].name == "acc_norm");
  chat::reply answer;
  for (const auto sum : sums) answer.choices.push_back({.sum_logprob = sum, .is_greedy = false, .tokens = 1});
  const score::task task{.target = &*parsed, .choices = &choices};
  CHECK((*scorer)->check(task));
  judged out{.verdict = (*scorer)->score(task, answer)};
  for (const auto& one : out.verdict.further) {
    CHECK(one.metric == "acc_norm");
    out.acc_norm = one.value;
  }
  return out;
}

std::string complaint(std::string_view target, const std::vector<std::string>& choices) {
  const auto parsed = json::parse(target);
  REQUIRE(parsed);
  const auto checked = (*score::find_scorer("choice"))->check({.target = &*parsed, .choices = &choices});
  return checked ? "accepted" : checked.error().message;
}

}  // namespace

TEST_CASE("the likeliest choice is taken, and the likeliest for its length beside it") {
  // For a character: -4.0 / 5 = -0.8 and -6.0 / 12 = -0.5.
  const std::vector<std::string> towns{" Paris", " Saint-Denis "};
  const auto first = judge("0", towns, {-4.0, -6.0});
  CHECK(first.verdict.scored);
  CHECK(first.verdict.value == 1);
  CHECK(first.verdict.extracted == " Paris");
  CHECK(first.verdict.reason.empty());
  CHECK(first.acc_norm == 0);
  const auto second = judge("\" Saint-Denis \"", towns, {-4.0, -6.0});
  CHECK(second.verdict.value == 0);
  CHECK(second.verdict.reason == "chose \" Paris\", expected \" Saint-Denis \"");
  CHECK(second.acc_norm == 1);
}

TEST_CASE("characters are counted, not bytes") {
  // Six characters of 12 bytes against four: for a character -3.0 / 6 = -0.5 and -2.4 / 4 = -0.6; for a byte
  // -0.25.
  CHECK(judge("0", {" \u041c\u043e\u0441\u043a\u0432\u0430", " Rome"}, {-3.0, -2.4}).acc_norm == 1);
  // -4.2 / 6 = -0.7 is less than -0.6, and -4.2 / 12 = -0.35 would be more.
  CHECK(judge("1", {" \u041c\u043e\u0441\u043a\u0432\u0430", " Rome"}, {-4.2, -2.4}).acc_norm == 1);
}

TEST_CASE("of choices that are equally likely the first is taken") {
  CHECK(judge("0", {" a", " b", " c"}, {-1.0, -1.0, -1.0}).verdict.value == 1);
  CHECK(judge("0", {" a", " b", " c"}, {-1.0, -1.0, -1.0}).acc_norm == 1);
  CHECK(judge("2", {" a", " b", " c"}, {-2.0, -1.0, -1.0}).verdict.value == 0);
}

TEST_CASE("a reply that lacks likelihoods is unscored, and no wrong answer") {
  const auto out = judge("0", {" a", " b"}, {-1.0});
  CHECK_FALSE(out.verdict.scored);
  CHECK(out.verdict.reason == "the reply does not have the likelihood of each choice");
  CHECK(out.verdict.further.empty());
}

TEST_CASE("a target that is none of the choices is refused before anything is sent") {
  const std::vector<std::string> choices{" a", " b"};
  CHECK(complaint("1", choices) == "accepted");
  for (const auto* target : {"2", "-1", "0.5", "\"a\"", "null", "[0]"}) {
    CAPTURE(target);
    CHECK(complaint(target, choices).starts_with("scorer choice: the target must be one of the line's"));
  }
  CHECK(complaint("0", {}) != "accepted");
}

TEST_CASE("a choice is explained by what was taken and how it compares") {
  const std::vector<std::string> choices{" Paris", " Lyon"};
  const json::value target = 0;
  chat::reply answer;
  answer.choices = {{.sum_logprob = -3}, {.sum_logprob = -2}};
  const score::task task{.target = &target, .choices = &choices, .explain = true};
  const auto verdict = (*score::find_scorer("choice"))->score(task, answer);
  REQUIRE(verdict.steps.size() == 2);
  CHECK(verdict.steps[0].text == " Lyon");
  CHECK(verdict.steps[1].text == verdict.reason);
}
