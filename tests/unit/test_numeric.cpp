#include <doctest/doctest.h>

#include <string>

#include <evalcore/score/scorer.hpp>

#include "score/numeric.hpp"

using namespace evalcore;

namespace {

score::verdict judge(std::string_view target, std::string text) {
  const auto scorer = score::find_scorer("numeric");
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

std::string last(std::string_view text) {
  const auto found = score::last_number(text);
  return found ? std::string(found->text) : "none";
}

}  // namespace

// Texts on which the answer extractors of public harnesses have failed.
TEST_CASE("numeric: known traps") {
  CHECK(right("64", "That makes 64, all told, then."));
  CHECK(right("18", "#### 5 is the example. #### 18"));
  CHECK_FALSE(right("7", "is 47"));
  CHECK_FALSE(right("20", "120"));
  CHECK_FALSE(right("-8", "8"));
  CHECK(right("2.5", "2.5"));
  CHECK_FALSE(right("7", "70 is it"));
  CHECK(right("3.14", "(3.14)"));
  CHECK(right("3.14", "3.14."));
  CHECK(right("3.14", "$3.14"));
  CHECK_FALSE(right("3.14", "314"));
  CHECK(right("3000", "3,000"));
  CHECK(right("70000", "the profit is $70,000."));
  CHECK(right("0", "It is 0."));
  CHECK_FALSE(right("0", "It is nothing."));
}

TEST_CASE("numeric: where a number begins and ends") {
  CHECK(last("") == "none");
  CHECK(last("-,.$%e") == "none");
  CHECK(last("x = -5") == "-5");
  CHECK(last("x=\u22125") == "\u22125");
  CHECK(last("5-3") == "3");
  CHECK(last("(4)-3") == "3");
  CHECK(last("-$5.50") == "-$5.50");
  CHECK(last("€1,234,567.89 net") == "€1,234,567.89");
  CHECK(last("1,2345") == "2345");
  CHECK(last("1234,567") == "567");
  CHECK(last("1, 2, 3") == "3");
  CHECK(last("6.02e23 atoms") == "6.02e23");
  CHECK(last("1E-7") == "1E-7");
  CHECK(last("3e") == "3");
  CHECK(last("12km") == "12");
  CHECK(last(".5") == ".5");
  CHECK(last("答案是5。") == "5");
  CHECK(last("+7%") == "+7");
  CHECK(last("42 of Q4") == "42");
  CHECK(last("**42**") == "42");
  CHECK(last("\\boxed{42}") == "42");
}

TEST_CASE("numeric: equal within 1e-9 of the larger") {
  CHECK(right("0.3", "0.30000000000000004"));
  CHECK(right("1000000000", "1000000000.5"));
  CHECK_FALSE(right("1000000000", "1000000002"));
  CHECK_FALSE(right("0", "1e-300"));
  CHECK(right("1500", "1.5e3"));
  CHECK_FALSE(right("1", "1e999"));
}

TEST_CASE("numeric: a target may be a text that is one number") {
  CHECK(right(R"("$1,000")", "1000"));
  CHECK(right(R"(" 50 %")", "50%"));
  const auto scorer = score::find_scorer("numeric");
  REQUIRE(scorer);
  CHECK((*scorer)->metric() == "numeric_match");
  for (const char* target : {R"("about 5")", R"("")", "null", "[5]", "true"}) {
    const auto parsed = json::parse(target);
    const auto checked = (*scorer)->check({&*parsed, nullptr, {}});
    REQUIRE_FALSE_MESSAGE(checked, target);
    CHECK(checked.error().code == errc::bad_suite);
    CHECK_FALSE(judge(target, "5").scored);
  }
}

TEST_CASE("numeric: the reason names what came and what was expected") {
  CHECK(judge("5", "x is 4").reason == "got 4, expected 5");
  CHECK(judge("5", "I do not know").reason == "no number in the reply, expected 5");
  CHECK(judge("5", "x is 4").extracted == "4");
}
