#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "unit/suite_lines.hpp"

using namespace evalcore;

TEST_CASE("a conversation with images, calls and their answers keeps every part") {
  const auto one =
      item_of(R"({"id":7,"target":["x","y"],"messages":[)"
              R"({"role":"system","content":"be brief"},)"
              R"({"role":"user","content":[{"type":"text","text":"what"},{"type":"text","text":"is it?"},)"
              R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},)"
              R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",)"
              R"("function":{"name":"look","arguments":"{\"b\": 1, \"a\":2}"}}]},)"
              R"({"role":"tool","tool_call_id":"c1","content":"a cat"},)"
              R"({"role":"developer","content":"answer now"}]})");
  CHECK(one.id == "7");
  CHECK(one.target == json::value(json::array{"x", "y"}));
  const auto& turns = one.request.messages;
  REQUIRE(turns.size() == 5);
  CHECK(turns[0].who == chat::role::system);
  CHECK(turns[1].text == "what\nis it?");
  CHECK(turns[1].image_urls == std::vector<std::string>{"data:image/png;base64,AA=="});
  REQUIRE(turns[2].calls.size() == 1);
  CHECK(turns[2].text.empty());
  CHECK(turns[2].calls[0].id == "c1");
  CHECK(turns[2].calls[0].name == "look");
  CHECK(turns[2].calls[0].arguments == R"({"b": 1, "a":2})");
  CHECK(turns[3].call_id == "c1");
  CHECK(turns[4].who == chat::role::developer);
}

TEST_CASE("tools come in OpenAI's form or bare, their schema's order kept") {
  const auto one = item_of(
      R"({"id":"t","prompt":"?","target":1,"tools":[)"
      R"({"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","b":{"x":1.0},"a":1}}},)"
      R"({"name":"g","strict":true}]})");
  REQUIRE(one.request.tools.size() == 2);
  CHECK(one.request.tools[0].name == "f");
  CHECK(one.request.tools[0].description == "d");
  CHECK(one.request.tools[0].parameters == R"({"type":"object","b":{"x":1.0},"a":1})");
  CHECK_FALSE(one.request.tools[0].strict);
  CHECK(one.request.tools[1].name == "g");
  CHECK(one.request.tools[1].strict);
  CHECK(one.request.tools[1].parameters == R"({"type":"object","properties":{}})");
}

TEST_CASE("choices follow a prompt, and the scorer is theirs") {
  const auto one = item_of(R"({"id":"c","prompt":"2 + 2 =","choices":[" 4"," 5"],"target":0})");
  CHECK(one.request.choices == std::vector<std::string>{" 4", " 5"});
  REQUIRE(one.request.messages.size() == 1);
  CHECK(one.request.messages[0].text == "2 + 2 =");
  CHECK(one.scorer == "choice");
}

TEST_CASE("a line that only asks needs no target, and one choice is enough") {
  const auto one = item_of(R"({"id":"n","prompt":"?","scorer":"none"})");
  CHECK(one.scorer == "none");
  CHECK(one.target.is_null());
  const auto chosen = item_of(R"({"id":"n","prompt":"","choices":[" "],"scorer":"none"})");
  CHECK(chosen.request.choices == std::vector<std::string>{" "});
  CHECK(complaint(R"({"id":"n","prompt":"?","choices":[],"scorer":"none"})") ==
        R"("choices" is not a list of strings)");
  CHECK(complaint(R"({"id":"n","prompt":"?","choices":["a",""],"scorer":"none"})") ==
        R"("choices" has an element that is no string with more than blanks in it)");
}

TEST_CASE("what has no meaning beside choices is refused") {
  const auto with = [](const std::string& members) {
    return complaint(R"({"id":"c","target":0,)" + members + "}");
  };
  CHECK(with(R"("messages":[{"role":"user","content":"?"}],"choices":["a","b"])") ==
        R"("choices" follow a "prompt", and nothing is generated: "messages" has no place beside them)");
  CHECK(with(R"("prompt":"?","choices":["a","b"],"params":{"temperature":0})") ==
        R"("choices" follow a "prompt", and nothing is generated: "params" has no place beside them)");
  CHECK(with(R"("prompt":"?","choices":["a"])") == R"("choices" is not a list of two strings or more)");
  CHECK(with(R"("prompt":"?","choices":"ab")") == R"("choices" is not a list of two strings or more)");
  CHECK(with(R"("prompt":"?","choices":["a"," "])") ==
        R"("choices" has an element that is no string with more than blanks in it)");
  CHECK(with(R"("prompt":"?","choices":["a","b","a"])") == R"("choices" has "a" twice)");
  CHECK(with(R"("prompt":"?","choices":["a","b"],"scorer":"exact")") ==
        R"("choices" are for the scorers "choice" and "brier", not for "exact")");
}

TEST_CASE("a scorer may bring its options") {
  CHECK(item_of(R"({"id":"r","prompt":"?","target":"4","scorer":{"name":"regex","pattern":"a+"}})").scorer ==
        R"({"name":"regex","pattern":"a+"})");
  CHECK(item_of(R"({"id":"r","prompt":"?","target":"4","scorer":{"name":"exact"}})").scorer == "exact");
  CHECK(item_of(R"({"id":"r","prompt":"?","scorer":{"name":"none"}})").scorer == "none");
  CHECK(complaint(R"({"id":"r","prompt":"?","target":"4","scorer":{"pattern":"a"}})") ==
        R"("scorer" lacks "name")");
}

TEST_CASE("params, scorer and category are taken over; what is absent stays absent") {
  const auto one =
      item_of(R"({"id":"p","prompt":"?","target":1,"scorer":"numeric","category":"sums",)"
              R"("params":{"temperature":0,"top_p":0.9,"max_tokens":32,"seed":-3,"stop":["\n","."]}})");
  CHECK(one.scorer == "numeric");
  CHECK(one.category == "sums");
  CHECK(one.request.params.temperature == 0.0);
  CHECK(one.request.params.top_p == 0.9);
  CHECK(one.request.params.max_tokens == 32U);
  CHECK(one.request.params.seed == -3);
  CHECK(one.request.params.stop == std::vector<std::string>{"\n", "."});

  const auto bare = item_of(R"({"id":"p","prompt":"?","target":1,"params":{"stop":"END","seed":null}})");
  CHECK_FALSE(bare.request.params.temperature.has_value());
  CHECK_FALSE(bare.request.params.max_tokens.has_value());
  CHECK_FALSE(bare.request.params.seed.has_value());
  CHECK(bare.request.params.stop == std::vector<std::string>{"END"});
}

TEST_CASE("a line that is no item says what is wrong with it") {
  const std::pair<const char*, const char*> table[] = {
      {"[1]", "not a JSON object"},
      {R"({"prompt":"?","target":1})", "lacks \"id\""},
      {R"({"id":null,"prompt":"?","target":1})", "lacks \"id\""},
      {R"({"id":"","prompt":"?","target":1})",
       "\"id\" is neither a string with something in it nor a whole number of 64 bits"},
      {R"({"id":1.5,"prompt":"?","target":1})",
       "\"id\" is neither a string with something in it nor a whole number of 64 bits"},
      {R"({"id":"x","target":1})", "lacks \"messages\" or \"prompt\""},
      {R"({"id":"x","prompt":"?"})", "lacks \"target\", the answer that is expected"},
      {R"({"id":"x","prompt":"?","messages":[],"target":1})",
       "has both \"messages\" and \"prompt\"; give one"},
      {R"({"id":"x","prompt":5,"target":1})", "\"prompt\" is not a string"},
      {R"({"id":"x","messages":{},"target":1})", "\"messages\" is not a list"},
      {R"({"id":"x","messages":[],"target":1})", "\"messages\" is empty"},
      {R"({"id":"x","messages":["hi"],"target":1})", "messages[0] is not an object"},
      {R"({"id":"x","messages":[{"content":"hi"}],"target":1})", "messages[0] lacks \"role\""},
      {R"({"id":"x","messages":[{"role":"bot","content":"hi"}],"target":1})",
       "messages[0]: unknown role \"bot\"; known are system, developer, user, assistant, tool"},
      {R"({"id":"x","messages":[{"role":"user"}],"target":1})", "messages[0] lacks \"content\""},
      {R"({"id":"x","messages":[{"role":"user","content":7}],"target":1})",
       "messages[0]: \"content\" is neither a string nor a list of parts"},
      {R"({"id":"x","messages":[{"role":"user","content":"hi","name":"Ann"}],"target":1})",
       "messages[0] has \"name\", which is not supported; known are role, content, tool_calls, tool_call_id"},
      {R"({"id":"x","messages":[{"role":"user","content":[{"type":"audio"}]}],"target":1})",
       "messages[0]: a content part of type \"audio\" is not supported; known are text, image_url"},
      {R"({"id":"x","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}},)"
       R"({"type":"text","text":"?"}]}],"target":1})",
       "messages[0]: text after an image is not supported; put the text first"},
      {R"({"id":"x","messages":[{"role":"tool","content":"hi"}],"target":1})",
       "messages[0] lacks \"tool_call_id\""},
      {R"({"id":"x","messages":[{"role":"user","tool_calls":[]}],"target":1})",
       "messages[0]: only an assistant turn has \"tool_calls\""},
      {R"({"id":"x","messages":[{"role":"assistant","tool_calls":[{"function":{}}]}],"target":1})",
       "messages[0].tool_calls[0] lacks \"name\""},
      {R"({"id":"x","prompt":"?","target":1,"tools":[{"description":"d"}]})", "tools[0] lacks \"name\""},
      {R"({"id":"x","prompt":"?","target":1,"tools":[{"name":"f","parameters":[]}]})",
       "tools[0]: \"parameters\" is not an object"},
      {R"({"id":"x","prompt":"?","target":1,"tools":[{"name":"f","strict":"yes"}]})",
       "tools[0]: \"strict\" is neither true nor false"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"max_token":3}})",
       "params has \"max_token\", which is not supported; known are temperature, top_p, top_k, max_tokens, "
       "seed, stop, tool_choice, parallel_tool_calls, response_format, logprobs, top_logprobs, thinking, "
       "reasoning_effort"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"max_tokens":0}})",
       "params: \"max_tokens\" is not a whole number of 1 or more"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"temperature":-1}})",
       "params: \"temperature\" is not a number of 0 or more"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"top_p":"high"}})",
       "params: \"top_p\" is not a number from 0 to 1"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"seed":1.0}})",
       "params: \"seed\" is not a whole number of 64 bits"},
      {R"({"id":"x","prompt":"?","target":1,"params":{"stop":["a",1]}})",
       "params: \"stop\" is neither a string nor a list of strings"},
      {R"({"id":"x","prompt":"?","target":1,"scorer":7})", "\"scorer\" is not a string with something in it"},
  };
  for (const auto& [line, expected] : table) CHECK(complaint(line) == expected);
}

TEST_CASE("a member that stands twice is refused by name, wherever it stands") {
  const std::pair<const char*, const char*> table[] = {
      {R"({"id":"x","id":"y","prompt":"?","target":1})", "\"id\""},
      {R"({"id":"x","prompt":"?","target":1,"target":2})", "\"target\""},
      {R"({"id":"x","prompt":"?","target":{"a":1,"a":2}})", "\"a\""},
      {R"({"id":"x","messages":[{"role":"user","content":"a","content":"b"}],"target":1})", "\"content\""},
      {R"({"id":"x","prompt":"?","target":1,"params":{"seed":1,"seed":2}})", "\"seed\""},
  };
  for (const auto& [line, member] : table) {
    CHECK(complaint(line) == "one object has " + std::string(member) + " twice; leave one of them out");
  }
}

TEST_CASE("what is not JSON is refused with the parser's word for it") {
  for (const char* line :
       {"{\"id\":\"x\"", "hello", "{\"id\":\"x\"} {}", "{\"id\":NaN}", "{\"id\":\"\xff\"}"}) {
    CHECK(complaint(line).starts_with("not JSON ("));
  }
  CHECK(complaint("{\"id\":" + std::string(200'000, '[')).starts_with("not JSON ("));
}
