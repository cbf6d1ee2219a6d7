#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

using namespace evalcore;
using choice = chat::tool_choice::kind;

// What goes beyond the common fields: written where it is honoured, else listed or refused.

namespace {

chat::request asking() {
  chat::request request;
  request.messages.emplace_back().text = "hi";
  return request;
}

chat::request with_tools() {
  auto request = asking();
  request.tools = {{"f", "", "{}"}, {"g", "", "{}"}};
  return request;
}

const wire::dialect& generic() { return *wire::find_dialect("generic"); }

wire::encoded encode(const chat::request& request, const wire::dialect& ways = generic(),
                     bool stream = false) {
  auto made = wire::encode_openai_chat(request, ways, stream);
  REQUIRE(made);
  REQUIRE(json::parse(made->body));
  return *std::move(made);
}

bool holds(const wire::encoded& made, std::string_view text) {
  return made.body.find(text) != std::string::npos;
}

errc refusal(const chat::request& request, const wire::dialect& ways = generic()) {
  const auto made = wire::encode_openai_chat(request, ways, false);
  REQUIRE_FALSE(made);
  CHECK_FALSE(made.error().message.empty());
  return made.error().code;
}

}  // namespace

TEST_CASE("a strict tool is one where the server knows such, and told of elsewhere") {
  auto request = with_tools();
  request.tools[1].strict = true;
  const auto honoured = encode(request, *wire::find_dialect("openai"));
  CHECK(holds(honoured, R"("function":{"name":"f","parameters":{}}})"));
  CHECK(holds(honoured, R"("function":{"name":"g","parameters":{},"strict":true}})"));
  CHECK(honoured.dropped.empty());
  const auto elsewhere = encode(request);
  CHECK_FALSE(holds(elsewhere, "strict"));
  CHECK(elsewhere.dropped == std::vector<std::string>{"tools.strict"});
  // Two questions, whoever is asked.
  CHECK(wire::identity_text(request) != wire::identity_text(with_tools()));
}

TEST_CASE("the tool choice has four forms, and stands only beside tools") {
  auto request = with_tools();
  request.parallel_tool_calls = false;
  const auto written = [&](choice how, std::string name = "") {
    request.tool_choice = {how, std::move(name)};
    return encode(request);
  };
  CHECK(holds(written(choice::automatic), R"("tool_choice":"auto","parallel_tool_calls":false)"));
  CHECK(holds(written(choice::none), R"("tool_choice":"none")"));
  CHECK(holds(written(choice::required), R"("tool_choice":"required")"));
  CHECK(holds(written(choice::named, "g"), R"("tool_choice":{"type":"function","function":{"name":"g"}})"));
  request.tool_choice = {choice::named, "h"};
  CHECK(refusal(request) == errc::invalid_argument);

  auto bare = asking();
  bare.tool_choice = {choice::automatic};
  CHECK_FALSE(holds(encode(bare), "tool_choice"));
  bare.tool_choice = {choice::required};
  CHECK(refusal(bare) == errc::invalid_argument);
}

TEST_CASE("response formats") {
  auto request = asking();
  request.params.format = {chat::response_format::kind::json_object};
  CHECK(holds(encode(request), R"("response_format":{"type":"json_object"})"));
  request.params.format = {chat::response_format::kind::json_schema, "s", R"({"a": 1.0})", true};
  CHECK(holds(
      encode(request),
      R"("response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"a": 1.0},"strict":true}})"));
}

TEST_CASE("logprobs, thinking and cache hints in each server's words") {
  auto request = asking();
  request.params.top_logprobs = 5;
  request.thinking.effort = "low";
  request.thinking.enabled = false;
  request.thinking.budget_tokens = 64;
  request.hints.prompt_cache_key = "k";
  request.hints.cache_salt = "s";
  request.params.max_tokens = 9;
  auto ways = generic();
  ways.thinking_switch = true;
  ways.thinking_budget = "budget";
  ways.cache_key = true;
  ways.cache_salt = true;
  ways.max_tokens_field = "max_completion_tokens";
  const auto made = encode(request, ways);
  CHECK(made.dropped.empty());
  CHECK(made.body == R"({"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9,)"
                     R"("logprobs":true,"top_logprobs":5,"reasoning_effort":"low",)"
                     R"("chat_template_kwargs":{"enable_thinking":false},"budget":64,"stream":false,)"
                     R"("prompt_cache_key":"k","cache_salt":"s"})");
}

TEST_CASE("what a server cannot honour is listed once, hints are not") {
  static constexpr std::array<std::string_view, 5> ignored{"seed", "response_format", "reasoning_effort",
                                                           "parallel_tool_calls", "top_k"};
  auto ways = generic();
  ways.ignores = ignored;
  ways.logprobs = wire::trait::no;
  auto request = with_tools();
  request.parallel_tool_calls = true;
  request.params.seed = 1;
  request.params.top_k = 1;
  request.params.format.emplace();
  request.params.logprobs = true;
  request.thinking.effort = "low";
  request.thinking.enabled = true;
  request.thinking.budget_tokens = 64;
  request.hints.prompt_cache_key = "k";
  request.messages.resize(3);
  request.messages[1].who = request.messages[2].who = chat::role::assistant;
  request.messages[1].reasoning = request.messages[2].reasoning = "hm";
  const auto made = encode(request, ways);
  CHECK(made.dropped == std::vector<std::string>{"reasoning", "parallel_tool_calls", "top_k", "seed",
                                                 "response_format", "logprobs", "reasoning_effort",
                                                 "thinking", "thinking_budget"});
  for (const char* field :
       {"hm", "parallel", "top_k", "seed", "format", "logprobs", "thinking", "cache_key"}) {
    CAPTURE(field);
    CHECK_FALSE(holds(made, field));
  }
}

TEST_CASE("what the answer depends on is refused rather than dropped") {
  static constexpr std::array<std::string_view, 2> ignored{"tools", "tool_choice"};
  auto ways = generic();
  ways.images = wire::trait::no;
  ways.ignores = std::span(ignored).first(1);
  CHECK(refusal(with_tools(), ways) == errc::unsupported);

  ways.ignores = std::span(ignored).last(1);
  auto request = with_tools();
  request.tool_choice = {choice::automatic};
  CHECK(encode(request, ways).dropped.empty());
  for (const auto how : {choice::none, choice::required}) {
    request.tool_choice = {how};
    CHECK(refusal(request, ways) == errc::unsupported);
  }

  auto look = asking();
  look.messages[0].image_urls = {"https://example.org/a.png"};
  CHECK(refusal(look, ways) == errc::unsupported);

  auto many = asking();
  many.params.n = 2;
  CHECK(refusal(many) == errc::unsupported);
  many.params.n = 1;
  CHECK_FALSE(holds(encode(many), "\"n\""));
}

TEST_CASE("reasoning goes back under the server's own name for it") {
  auto request = asking();
  auto& turn = request.messages.emplace_back();
  turn.who = chat::role::assistant;
  turn.text = "4";
  turn.thinking = {{.text = "two ", .signature = "s"}, {.text = "and two"}};
  CHECK(holds(encode(request, *wire::find_dialect("llama-server")),
              R"({"role":"assistant","content":"4","reasoning_content":"two and two"})"));
}

TEST_CASE("a request's identity has every field that can change the answer, whatever a server honours") {
  const auto plain = wire::identity_text(with_tools());
  CHECK(plain == R"({"messages":[{"role":"user","content":"hi"}],"tools":[)"
                 R"({"type":"function","function":{"name":"f","parameters":{}}},)"
                 R"({"type":"function","function":{"name":"g","parameters":{}}}],"stream":false})");
  std::vector<chat::request> others(11, with_tools());
  others[0].params.n = 2;
  others[1].params.logprobs = true;
  others[2].params.format.emplace();
  others[3].thinking.enabled = false;
  others[4].thinking.budget_tokens = 5;
  others[5].thinking.effort = "low";
  others[6].tool_choice = {choice::none};
  others[7].parallel_tool_calls = true;
  others[8].messages[0].thinking = {{.text = "", .signature = "s"}};
  others[9].messages[0].is_error = true;
  others[10].messages[0].reasoning = "hm";
  std::vector<std::string> texts{plain};
  for (const auto& other : others) texts.push_back(wire::identity_text(other));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(texts[i] != texts[j]);
  }
  auto hinted = with_tools();
  hinted.hints = {
      .slot = 1, .use_cache = false, .prompt_cache_key = "k", .cache_salt = "s", .breakpoints = {true}};
  CHECK(wire::identity_text(hinted) == plain);
}
