#include <ctime>

#include "score/pattern.hpp"
#include "unit/scoring.hpp"

using namespace evalcore;

namespace {

constexpr std::string_view final_line = R"re({"name":"regex","pattern":"#### (-?[0-9.,]+)"})re";

std::string found(std::string_view pattern, std::string_view text) {
  const auto made = score::pattern::compile(pattern);
  REQUIRE(made);
  const auto match = made->find(text);
  REQUIRE(match);
  return *match ? std::string(*(**match)[0]) : "nothing";
}

}  // namespace

TEST_CASE("regex: the last match is the answer, or the first where that is asked for") {
  CHECK(test::right(final_line, R"("18")", "#### 5 is the example. #### 18"));
  CHECK(test::right(R"re({"name":"regex","pattern":"#### (\\d+)","take":"first"})re", R"("5")",
                    "#### 5 #### 18"));
  CHECK(test::right(R"re({"name":"regex","pattern":"[a-z]+","ignore_case":true})re", R"(["Ab","x"])",
                    "1 Ab 2"));
  CHECK(test::right(R"re({"name":"regex","pattern":"(a)(b)","group":2})re", R"("b")", "ab"));
  CHECK(test::judge(final_line, R"("18")", "no").reason == "the pattern finds nothing in the reply");
  CHECK(test::judge(final_line, R"("18")", "no").no_answer);
  CHECK(test::judge(final_line, R"("18")", "#### 7").reason == R"(got "7", expected "18")");
}

TEST_CASE("regex: whether anything is found can be what is asked") {
  CHECK(test::right(R"re({"name":"regex","pattern":"^\\{"})re", "true", "{}"));
  CHECK(test::right(R"re({"name":"regex","pattern":"sorry"})re", "false", "Here it is."));
  CHECK_FALSE(test::right(R"re({"name":"regex","pattern":"sorry"})re", "false", "I am sorry."));
}

TEST_CASE("regex: groups that take no part, or are empty, are no answer and no crash") {
  constexpr std::string_view two = R"re({"name":"regex","pattern":"()|()"})re";
  for (const char* text : {"north", ": B"}) CHECK(test::judge(two, R"("B")", text).no_answer);
  CHECK(test::judge(R"re({"name":"regex","pattern":"x(y)?"})re", R"("y")", "x").no_answer);
}

TEST_CASE("regex: look-around and back-references are understood") {
  CHECK(test::right(R"re({"name":"regex","pattern":"(?<=is )\\d+"})re", R"("7")", "It is 7."));
  CHECK(test::right(R"re({"name":"regex","pattern":"(\\w)\\1","group":0})re", R"("ll")", "hello"));
  CHECK(found(R"((?<=é)b)", "éb") == "b");
  CHECK(found("é+", "caféé") == "éé");
  CHECK(found("x", std::string("\xff\xfex")) == "x");
  const auto ahead = score::pattern::compile("(?=x)x");
  REQUIRE(ahead);
  CHECK(ahead->find("\xff\xfex").error().code == errc::bad_reply);
}

TEST_CASE("regex: a pattern means the same with and without look-around") {
  // Each is searched as it is, and behind a look-ahead that holds everywhere.
  const auto both = [](const std::string& pattern, std::string_view text) {
    const auto one = found(pattern, text);
    CHECK_MESSAGE(found("(?=)" + pattern, text) == one, pattern);
    return one;
  };
  CHECK(both("\\w+", "café") == "caf");
  CHECK(both("\\W+", "café!") == "é!");
  CHECK(both("\\d+", "٣4") == "4");
  CHECK(both("[[:alpha:]]+", "éa") == "a");
  CHECK(both("\\bt", "ét") == "t");
  CHECK(both("a\\sb", "a\u00a0b") == "nothing");
  CHECK(both("b$", "b\n") == "nothing");
  CHECK(both("(?m)b$", "b\nc") == "b");
  CHECK(both("(?i)É", "é") == "é");
}

TEST_CASE("regex: line ends behind an answer are no part of it") {
  for (const char* reply : {"answer: 42", "answer: 42\n", "answer: 42\r\n\n"}) {
    CHECK(test::right(R"re({"name":"regex","pattern":"answer: (\\d+)$"})re", R"("42")", reply));
    CHECK(test::right(R"re({"name":"regex","pattern":"(?<=answer: )\\d+$"})re", R"("42")", reply));
  }
}

TEST_CASE("regex: a pattern that takes too long leaves the reply unscored, within a second") {
  const std::string text = std::string(60, 'a') + "!";
  const auto begun = std::clock();
  const auto out = test::judge(R"re({"name":"regex","pattern":"(?=x|)(a+)+$"})re", R"("x")", text);
  CHECK(std::clock() - begun < CLOCKS_PER_SEC);
  CHECK_FALSE(out.scored);
  CHECK(out.reason.find("takes too many steps") != std::string::npos);
  // The same without look-around runs in linear time.
  CHECK(test::judge(R"re({"name":"regex","pattern":"(a+)+$"})re", R"("x")", text).scored);
}

TEST_CASE("regex: the bound on steps is one for all searches in a reply") {
  std::string words;
  for (int i = 0; i < 400; ++i) words += std::string(22, 'a') + " ";
  // From each word some ten thousand steps lead nowhere before its other alternative matches; or from each
  // place.
  for (const char* named : {R"re({"name":"regex","pattern":"(?=[a-z])(?:(?:a|aa)+[b-d]|a+)"})re",
                            R"re({"name":"regex","pattern":"(?=[a-z])(?:a|aa)+[b-d]"})re"}) {
    const auto begun = std::clock();
    const auto out = test::judge(named, R"("x")", words);
    CHECK(std::clock() - begun < CLOCKS_PER_SEC / 2);
    CHECK_FALSE(out.scored);
    CHECK(out.reason.find("takes too many steps") != std::string::npos);
  }
  // 20,000 matches, a few steps each.
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "it is " + std::to_string(i) + ". ";
  CHECK(test::right(R"re({"name":"regex","pattern":"(?<=is )\\d+"})re", R"("19999")", many));
}

TEST_CASE("regex: what is wrong with its options is named") {
  CHECK(test::refusal("regex") ==
        R"(scorer regex: "pattern" is missing, the regular expression that finds the answer)");
  CHECK(test::refusal(R"re({"name":"regex","pattern":"("})re")
            .find(R"("pattern" is not a regular expression)") != std::string::npos);
  CHECK(test::refusal(R"re({"name":"regex","pattern":"a","group":1})re") ==
        R"(scorer regex: "group" is more than the pattern has: 0)");
  CHECK(test::refusal(R"re({"name":"regex","pattern":"a","take":"any"})re") ==
        R"(scorer regex: "take" is neither "first" nor "last")");
  CHECK(test::refusal(R"re({"name":"regex","pattern":"a","flags":"i"})re") ==
        R"(scorer regex: "flags" is none of its options; there are: pattern, group, take, ignore_case)");
  CHECK(test::refusal(R"({"name":"exact","x":1})") == R"(scorer exact: "x" is none of its options)");
}
