#include <string>
#include <string_view>
#include <vector>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "unit/scoring.hpp"

using namespace evalcore;

// Replies that were scored wrong in the field, shrunk. tests/data/public_reports.tsv says which report each
// is.

namespace {

/// The verdict of bfcl on a reply to an item with one function f, whose parameters these are.
score::verdict called(std::string_view parameters, std::string_view gold, const chat::reply& answer) {
  const std::vector<chat::tool> tools{
      {"f", "", R"({"type":"dict","properties":{)" + std::string(parameters) + R"(},"required":[]})"}};
  const auto target = *json::parse(R"([{"f":{)" + std::string(gold) + "}}]");
  const auto scorer = score::find_scorer("bfcl");
  REQUIRE(scorer);
  const score::task task{&target, &tools, "simple_python"};
  REQUIRE((*scorer)->check(task));
  auto out = (*scorer)->score(task, answer);
  CHECK(out.scored);
  return out;
}

chat::reply with_call(std::string arguments) {
  chat::reply answer;
  answer.calls = {{"1", "f", std::move(arguments)}};
  return answer;
}

chat::reply with_text(std::string text) {
  chat::reply answer;
  answer.text = std::move(text);
  return answer;
}

/// A whole answer of OpenAI's API with one call, whose function has these members.
chat::reply openai_call(const std::string& function) {
  const auto read = wire::decode_openai_chat(
      R"({"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{)" +
          function + R"(}}]},"finish_reason":"tool_calls"}]})",
      wire::dialects().front());
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("reported: the text true and the number 1 are no boolean") {
  const auto value = [](const char* given) {
    return called(R"("a":{"type":"boolean"})", R"("a":[true])",
                  with_call(R"({"a":)" + std::string(given) + "}"))
        .value;
  };
  CHECK(value("true") == 1);
  CHECK(value(R"("true")") == 0);
  CHECK(value("1") == 0);
}

TEST_CASE("reported: text between calls neither hides nor splits them") {
  const auto read = wire::decode_anthropic_message(
      R"({"type":"message","role":"assistant","content":[{"type":"text","text":"Sure:"},)"
      R"({"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"text","text":"and"},)"
      R"({"type":"tool_use","id":"2","name":"g","input":{}}],"stop_reason":"tool_use"})",
      wire::dialects().front());
  REQUIRE(read);
  REQUIRE(read->calls.size() == 2);
  CHECK((read->calls[0].name == "f" && read->calls[0].arguments == R"({"a":1})"));
  CHECK((read->calls[1].name == "g" && read->calls[1].arguments == "{}"));
}

TEST_CASE("reported: a parameter that is named like a keyword is scored, and said in a call in Python") {
  constexpr std::string_view declared = R"("class":{"type":"string"})";
  constexpr std::string_view gold = R"("class":["x"])";
  CHECK(called(declared, gold, with_call(R"({"class":"x"})")).value == 1);
  const auto in_python = called(declared, gold, with_text("[f(class='x')]"));
  CHECK(in_python.value == 0);
  CHECK_MESSAGE(in_python.reason.find("keyword of Python") != std::string::npos, in_python.reason);
}

TEST_CASE("reported: a whole number written with a point is kept, and judged by its type") {
  const auto out = called(R"("a":{"type":"integer"})", R"("a":[5])",
                          openai_call(R"("name":"f","arguments":"{\"a\": 5.0}")"));
  CHECK(out.value == 0);
  CHECK(out.extracted == "[f(a=5.0)]");
  CHECK(
      called(R"("a":{"type":"float"})", R"("a":[5.0])", openai_call(R"("name":"f","arguments":"{\"a\": 5}")"))
          .value == 1);
}

TEST_CASE("reported: a call without arguments is a call with none") {
  for (const char* function : {R"("name":"f","arguments":"")", R"("name":"f")",
                               R"("name":"f","arguments":"{}")", R"("name":"f","arguments":null)"}) {
    const auto answer = openai_call(function);
    CHECK_MESSAGE(called("", "", answer).value == 1, function);
  }
}

TEST_CASE("reported: of several blocks of code the last is the answer") {
  CHECK(test::right("json", R"({"a":2})",
                    "A sketch:\n```json\n{\"a\":1}\n```\nFinally:\n```json\n{\"a\":2}\n```\n"));
}

TEST_CASE("reported: a stop that came within the reasoning leaves no answer, and no guess from the trace") {
  auto answer = with_text("<think>a: maybe 5\n\n");
  answer.finish = chat::finish_reason::stop;
  const auto target = json::value(5);
  const auto scorer = score::find_scorer("numeric");
  REQUIRE(scorer);
  const auto out = (*scorer)->score({&target, nullptr, {}}, answer);
  CHECK((out.scored && out.value == 0 && out.no_answer));
  CHECK(out.reason.find("reasoning") != std::string::npos);
}

TEST_CASE("reported: names in an answer are not rewritten where they look like labels") {
  constexpr std::string_view labelled = R"("ORGANIZATION: Country Bank $ PERSON: Georgia")";
  CHECK(test::right("exact", labelled, "ORGANIZATION: Country Bank $ PERSON: Georgia"));
  CHECK_FALSE(test::right("exact", labelled, "ORGANIZATION: Location Bank $ PERSON: Georgia"));
  const auto found =
      test::judge(R"json({"name":"regex","pattern":"[A-Z]+: ([^$]+?) *(?=[$]|$)","take":"first"})json",
                  R"("Country Bank")", "ORGANIZATION: Country Bank $ PERSON: Georgia");
  CHECK((found.value == 1 && found.extracted == "Country Bank"));
}
