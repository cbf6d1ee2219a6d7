#include <doctest/doctest.h>

#include <string>

#include "unit/chat_bytes.hpp"

using namespace evalcore;
using namespace evalcore::test;

// Tool calls that broke some client in the field, each with the bytes of the public report, shrunk.
// tests/data/public_reports.tsv says which report each is.

namespace {

/// The calls of a whole answer with these members in its message.
call_list whole_calls(const std::string& members, const std::string& finish = "tool_calls") {
  return calls_in(whole(R"({"choices":[{"message":{"role":"assistant")" + members + R"(},"finish_reason":")" +
                        finish + "\"}]}"));
}

}  // namespace

TEST_CASE("reported: calls with empty ids stay apart") {
  CHECK(whole_calls(R"(,"tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}},)"
                    R"({"id":"","function":{"name":"g","arguments":"{}"}}])") ==
        call_list{{"", "f", "{}"}, {"", "g", "{}"}});
  CHECK(calls_of({R"({"index":0,"id":"","function":{"name":"f","arguments":"{}"}})",
                  R"({"index":1,"id":"","function":{"name":"g","arguments":"{}"}})"}) ==
        call_list{{"", "f", "{}"}, {"", "g", "{}"}});
}

TEST_CASE("reported: tool_call in the singular is the reason to finish") {
  const auto got =
      read_stream(chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})") +
                  chunk("{}", R"("tool_call")"));
  REQUIRE(got);
  CHECK(got->finish == chat::finish_reason::tool_calls);
  CHECK(got->finish_raw == "tool_call");
}

TEST_CASE("reported: a call without index and id is a call") {
  CHECK(calls_of({R"({"type":"function","function":{"name":"f","arguments":"{\"x\":1}"}})"}) ==
        call_list{{"", "f", R"({"x":1})"}});
}

TEST_CASE("reported: an envelope that was never closed stays text and makes no call") {
  const std::string text = R"(<tool_call>\n<function=websearch>\nquery=cats)";
  const auto got = read_stream(chunk(R"({"content":")" + text + R"("})") + chunk("{}", R"("stop")"));
  REQUIRE(got);
  CHECK(got->text == "<tool_call>\n<function=websearch>\nquery=cats");
  CHECK(got->calls.empty());
  CHECK(got->finish == chat::finish_reason::stop);
}

TEST_CASE("reported: a streamed call without arguments is a call") {
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"sum"}})"}) == call_list{{"a", "sum", ""}});
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"sum","arguments":null}})"}) ==
        call_list{{"a", "sum", ""}});
}

TEST_CASE("reported: an id that is missing, or lost in the last chunk, does not split a call") {
  CHECK(calls_of({R"({"index":0,"id":null,"function":{"name":"f","arguments":"{\"x\""}})",
                  R"({"index":0,"function":{"arguments":":1}"}})"}) == call_list{{"", "f", R"({"x":1})"}});
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}})",
                  R"({"index":0,"id":null,"type":"function","function":{"arguments":":1}"}})"}) ==
        call_list{{"a", "f", R"({"x":1})"}});
}

TEST_CASE("reported: a cut call that is called complete keeps the server's word and its counts") {
  const auto got = whole(
      R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f",)"
      R"("arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":10}})");
  CHECK(calls_in(got) == call_list{{"a", "f", "{}"}});
  CHECK(got->finish_raw == "tool_calls");
  CHECK(got->usage.completion_tokens == 10);
}

TEST_CASE("reported: explicit nulls in what continues a call change nothing") {
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":""}})",
                  R"({"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\"c"}})",
                  R"({"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"\":1}"}})"}) ==
        call_list{{"a", "f", R"({"c":1})"}});
}

TEST_CASE("reported: parallel calls of one index, or of none, stay apart") {
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}})",
                  R"({"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}})"}) ==
        call_list{{"a", "f", R"({"x":1})"}, {"b", "f", R"({"x":2})"}});
  CHECK(calls_of({R"({"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}})",
                  R"({"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}})"}) ==
        call_list{{"a", "f", R"({"x":1})"}, {"b", "f", R"({"x":2})"}});
}

TEST_CASE("reported: arguments as an object beside finish reason stop are a call") {
  CHECK(whole_calls(R"(,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"city":"x"}}}])",
                    "stop") == call_list{{"a", "f", R"({"city":"x"})"}});
}

TEST_CASE("reported: a new id with each chunk does not split a call") {
  CHECK(calls_of({R"({"index":0,"id":"a1","function":{"name":"f","arguments":"{\"c"}})",
                  R"({"index":0,"id":"a2","function":{"arguments":"\":"}})",
                  R"({"index":0,"id":"a3","function":{"arguments":"1}"}})"}) ==
        call_list{{"a1", "f", R"({"c":1})"}});
}

TEST_CASE("reported: an empty name after the first delta does not take the name away") {
  CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":""}})",
                  R"({"index":0,"id":"a","function":{"name":"","arguments":"{\"c\":1}"}})"}) ==
        call_list{{"a", "f", R"({"c":1})"}});
}

TEST_CASE("reported: null in place of the calls is none") {
  const auto got = read_stream(chunk(R"({"tool_calls":null,"content":"x"})") + chunk("{}", R"("stop")"));
  REQUIRE(got);
  CHECK(got->text == "x");
  CHECK(got->calls.empty());
  CHECK(whole_calls(R"(,"content":"x","tool_calls":null)").empty());
}

TEST_CASE("reported: two deltas of one index are one call") {
  CHECK(calls_of({R"({"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"c\":"}})",
                  R"({"index":0,"function":{"arguments":"1}"}})"}) == call_list{{"a", "f", R"({"c":1})"}});
}

TEST_CASE("reported: arguments without an id go to the call of their index, not to the latest") {
  CHECK(calls_of({R"({"index":0,"id":"A","function":{"name":"f","arguments":""}})",
                  R"({"index":1,"id":"B","function":{"name":"g","arguments":""}})",
                  R"({"index":0,"function":{"arguments":"{\"a\":0}"}})",
                  R"({"index":1,"function":{"arguments":"{\"b\":1}"}})"}) ==
        call_list{{"A", "f", R"({"a":0})"}, {"B", "g", R"({"b":1})"}});
}

TEST_CASE("reported: a message with a call may lack its content") {
  CHECK(whole_calls(R"(,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}])") ==
        call_list{{"a", "f", "{}"}});
}

TEST_CASE("reported: null content beside a call is empty text, and the counts are the server's") {
  const auto got = whole(
      R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f",)"
      R"("arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":0}})");
  REQUIRE(got);
  CHECK(got->text.empty());
  CHECK(got->usage.completion_tokens == 0);
}
