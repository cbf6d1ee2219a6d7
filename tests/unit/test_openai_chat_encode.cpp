#include <doctest/doctest.h>

#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

using namespace evalcore;

namespace {

chat::message turn(chat::role who, std::string text) {
  chat::message one;
  one.who = who;
  one.text = std::move(text);
  return one;
}

std::string encode(const chat::request& request, std::string_view dialect = "generic", bool stream = false) {
  auto made = wire::encode_openai_chat(request, *wire::find_dialect(dialect), stream);
  REQUIRE(made);
  CHECK(made->dropped.empty());
  CHECK(json::parse(made->body));
  return made->body;
}

}  // namespace

TEST_CASE("the least request") {
  chat::request request;
  request.messages = {turn(chat::role::user, "hi")};
  CHECK(encode(request) == R"({"messages":[{"role":"user","content":"hi"}],"stream":false})");
  CHECK(
      encode(request, "generic", true) ==
      R"({"messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}})");
}

TEST_CASE("every parameter has its place") {
  chat::request request;
  request.model = "m";
  request.messages = {turn(chat::role::system, "s"), turn(chat::role::developer, "d")};
  request.params.temperature = 0;
  request.params.top_p = 0.95;
  request.params.max_tokens = 32;
  request.params.seed = -1;
  request.params.stop = {"\n", "\"end\""};
  CHECK(
      encode(request) ==
      R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"developer","content":"d"}],)"
      R"("max_tokens":32,"temperature":0.0,"top_p":0.95,"seed":-1,"stop":["\n","\"end\""],"stream":false})");
}

TEST_CASE(
    "a tool's schema and a call's arguments reach the backend byte for byte, no arguments as an empty "
    "object") {
  chat::request request;
  // Blanks, key order and 1.0 would not survive being parsed and printed.
  request.tools = {{"f", "does f", R"({ "type":"object",  "properties": {"b":{"minimum":1.0},"a":{}} })"},
                   {"g", "", ""}};
  chat::message call = turn(chat::role::assistant, "");
  call.calls = {{"c1", "f", R"({"b": 1.0,"a":"x"})"}, {"", "g", ""}};
  chat::message answer = turn(chat::role::tool, "done");
  answer.call_id = "c1";
  request.messages = {call, answer};
  CHECK(encode(request) ==
        R"({"messages":[{"role":"assistant","content":"","tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"f","arguments":"{\"b\": 1.0,\"a\":\"x\"}"}},)"
        R"({"type":"function","function":{"name":"g","arguments":"{}"}}]},)"
        R"({"role":"tool","content":"done","tool_call_id":"c1"}],)"
        R"("tools":[{"type":"function","function":{"name":"f","description":"does f",)"
        R"("parameters":{ "type":"object",  "properties": {"b":{"minimum":1.0},"a":{}} }}},)"
        R"({"type":"function","function":{"name":"g"}}],"stream":false})");
}

TEST_CASE("images are content parts after the text") {
  chat::request request;
  chat::message look = turn(chat::role::user, "what is it?");
  look.image_urls = {"data:image/png;base64,AA==", "https://example.org/a.png"};
  chat::message silent = turn(chat::role::user, "");
  silent.image_urls = {"https://example.org/b.png"};
  request.messages = {look, silent};
  CHECK(
      encode(request) ==
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},)"
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},)"
      R"({"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]},)"
      R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/b.png"}}]}],)"
      R"("stream":false})");
}

TEST_CASE("hints go only where they are understood") {
  chat::request request;
  request.hints.slot = 3;
  request.hints.use_cache = false;
  CHECK(encode(request) == R"({"messages":[],"stream":false})");
  CHECK(encode(request, "llama-server") ==
        R"({"messages":[],"stream":false,"id_slot":3,"cache_prompt":false})");
}

TEST_CASE("the same request gives the same bytes") {
  chat::request request;
  request.model = "m";
  request.messages = {turn(chat::role::user, "caf\xC3\xA9 \xF0\x9F\x98\x80 \x01")};
  const std::string bytes = encode(request);
  CHECK(bytes == encode(request));
  CHECK(bytes.find("caf\xC3\xA9 \xF0\x9F\x98\x80 \\u0001") != std::string::npos);
}

TEST_CASE("dialects are found by name") {
  CHECK(wire::dialects().front().name == "generic");
  for (const auto& one : wire::dialects()) CHECK(wire::find_dialect(one.name) == &one);
  CHECK(wire::find_dialect("llama") == nullptr);
  CHECK(wire::find_dialect("llama-server")->ready.path == "/health");
}
