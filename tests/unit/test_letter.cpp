#include "unit/scoring.hpp"

using namespace evalcore;

namespace {

std::string chosen(std::string text, std::string_view named = "letter") {
  const auto out = test::judge(named, R"("A")", std::move(text));
  return out.no_answer ? "none" : out.extracted;
}

}  // namespace

TEST_CASE("letter: the last word for answer wins that a letter of its own follows") {
  CHECK(chosen("Antwort:\n\nAntwort: D") == "D");
  CHECK(chosen("answer: b") == "B");
  CHECK(chosen("ANSWER: A. No, wait. ANSWER: B") == "B");
  CHECK(chosen("My answer is B. People often choose A by mistake.") == "B");
  CHECK(chosen("The answer is C, as I worked it out.") == "C");
  CHECK(chosen("The answer is A because of it.") == "A");
  CHECK(chosen("答案：C。") == "C");
}

TEST_CASE("letter: brackets, bold type and boxes are no part of it") {
  CHECK(chosen("ANSWER: (C) 12\nHappy To Help") == "C");
  CHECK(chosen("## Final Answer: **(C) 12**") == "C");
  CHECK(chosen("The answer is $\\boxed{\\text{D}}$.") == "D");
  CHECK(chosen("Answer: option E") == "E");
}

TEST_CASE("letter: without such a word the last one that stands alone") {
  CHECK(chosen("It is B, since a wheel turns.") == "B");
  CHECK(chosen("Going with B, a sure thing.") == "B");
  CHECK(chosen("d") == "D");
  CHECK(chosen("(B).") == "B");
  CHECK(chosen("I think so.") == "none");
  CHECK(chosen("A wheel turns.") == "none");
  CHECK(chosen("I'm with C") == "C");
  CHECK(chosen("") == "none");
}

TEST_CASE("letter: several are a set") {
  for (const char* text : {"ANSWER: (B，D)", "Answer: D, B", "Answers: B and D", "answer: **B**, **D**,"}) {
    CHECK_MESSAGE(test::right("letter", R"("B, D")", text), text);
    CHECK_MESSAGE(test::right("letter", R"(["D","B"])", text), text);
    CHECK_FALSE_MESSAGE(test::right("letter", R"("B")", text), text);
  }
  CHECK(chosen("ANSWER: A, B, and C") == "A, B, C");
  CHECK(chosen("ANSWER: A, C,") == "A, C");
}

TEST_CASE("letter: only the letters of the item are choices") { CHECK(chosen("The answer is K") == "none"); }

TEST_CASE("letter: a target that is none of the letters is the suite's fault") {
  CHECK(test::complaint("letter", R"("A, C")").empty());
  for (const char* target : {R"("K")", R"("")", "1", "null", R"(["A","A"])", R"("a")"})
    CHECK_MESSAGE(test::complaint("letter", target).find("must be one of the letters") != std::string::npos,
                  target);
  CHECK(test::refusal(R"({"name":"letter","letters":"AB1"})") ==
        R"(scorer letter: "letters" has more than the letters A to Z)");
}
