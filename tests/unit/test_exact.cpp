#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

score::verdict judge(std::string_view target, std::string text) {
  const auto scorer = score::find_scorer("exact");
  const auto parsed = json::parse(target);
  REQUIRE(scorer);
  REQUIRE(parsed);
  chat::reply answer;
  answer.text = std::move(text);
  return (*scorer)->score({&*parsed, nullptr, {}}, answer);
}

bool right(std::string_view target, std::string text) {
  const auto out = judge(target, std::move(text));
  CHECK(out.scored);
  CHECK(out.reason.empty() == (out.value == 1));
  return out.value == 1;
}

}  // namespace

TEST_CASE("exact: the whole text, without the white space at its ends") {
  CHECK(right(R"("Paris")", " Paris\n"));
  CHECK(right(R"(" Paris")", "Paris"));
  CHECK_FALSE(right(R"("Paris")", "paris"));
  CHECK_FALSE(right(R"("Paris")", "Paris."));
  CHECK_FALSE(right(R"("Paris")", ""));
  CHECK(right(R"("☆")", "☆"));
}

TEST_CASE("exact: any of several accepted texts") {
  CHECK(right(R"(["", "hello"])", "hello"));
  CHECK_FALSE(right(R"([""])", "hello"));
  CHECK(right(R"(["a", "b"])", "b"));
}

TEST_CASE("exact: the reason names what came and what was expected, in that order") {
  CHECK(judge(R"("0")", "1").reason == R"(got "1", expected "0")");
  CHECK(judge(R"(["a", "b"])", "c").reason == R"(got "c", expected "a" or one of 1 more)");
  CHECK(judge(R"("a")", std::string(10'000, 'x')).reason.size() < 300);
}

TEST_CASE("exact: a target of another form is the suite's fault, and leaves the item unscored") {
  const auto scorer = score::find_scorer("exact");
  REQUIRE(scorer);
  CHECK((*scorer)->metric() == "exact_match");
  for (const char* target : {"1", "null", "[]", "[1]", "{}"}) {
    const auto parsed = json::parse(target);
    const auto checked = (*scorer)->check({&*parsed, nullptr, {}});
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == errc::bad_suite);
    CHECK_FALSE(judge(target, "1").scored);
  }
}

TEST_CASE("scorers are found by name") {
  for (const auto name : score::scorer_names()) {
    const std::string named =
        name == "regex" ? R"({"name":"regex","pattern":"x"})" : R"({"name":")" + std::string(name) + "\"}";
    CHECK((*score::find_scorer(named))->name() == name);
  }
  const auto missing = score::find_scorer("bleu");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == errc::not_found);
  CHECK(
      missing.error().message ==
      "no scorer \"bleu\"; there are: exact, includes, regex, numeric, letter, f1, math, json, json_schema, "
      "bfcl, bfcl_strict, choice, brier, perplexity, none");
  CHECK(score::find_scorer("{").error().code == errc::invalid_argument);
}
