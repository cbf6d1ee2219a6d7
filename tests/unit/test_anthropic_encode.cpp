#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/anthropic_messages.hpp>

using namespace evalcore;
using chat::role;
using choice = chat::tool_choice::kind;
using version = wire::anthropic_version;

namespace {

chat::message turn(role who, std::string text) {
  chat::message one;
  one.who = who;
  one.text = std::move(text);
  return one;
}

chat::message result_of(std::string call_id, std::string text) {
  auto one = turn(role::tool, std::move(text));
  one.call_id = std::move(call_id);
  return one;
}

chat::message calls(std::vector<chat::tool_call> made) {
  auto one = turn(role::assistant, "");
  one.calls = std::move(made);
  return one;
}

chat::request asking(std::vector<chat::message> messages = {turn(role::user, "hi")}) {
  chat::request request;
  request.messages = std::move(messages);
  request.params.max_tokens = 9;
  return request;
}

const wire::dialect& anthropic() { return *wire::find_dialect("anthropic"); }

wire::encoded encode(const chat::request& request, version which = version::v2023_06_01,
                     const wire::dialect& ways = anthropic()) {
  auto made = wire::encode_anthropic_messages(request, ways, which, false);
  REQUIRE(made);
  REQUIRE(json::parse(made->body));
  return *std::move(made);
}

/// The text between "messages": and the next member.
std::string messages_of(const chat::request& request, const wire::dialect& ways = anthropic()) {
  const std::string body = encode(request, version::v2023_06_01, ways).body;
  const std::size_t from = body.find("\"messages\":") + 11;
  return body.substr(from, body.rfind(",\"stream\":") - from);
}

bool holds(const wire::encoded& made, std::string_view text) {
  return made.body.find(text) != std::string::npos;
}

errc refusal(const chat::request& request, version which = version::v2023_06_01,
             const wire::dialect& ways = anthropic()) {
  const auto made = wire::encode_anthropic_messages(request, ways, which, false);
  REQUIRE_FALSE(made);
  CHECK_FALSE(made.error().message.empty());
  return made.error().code;
}

}  // namespace

TEST_CASE("anthropic: the least request is always bounded") {
  auto request = asking();
  request.params.max_tokens.reset();
  CHECK(encode(request).body ==
        R"({"max_tokens":4096,"messages":[{"role":"user","content":"hi"}],"stream":false})");
  request.params.max_tokens = 0;
  request.model = "m";
  const auto streamed = wire::encode_anthropic_messages(request, anthropic(), version::v2026_10_21, true);
  REQUIRE(streamed);
  CHECK(streamed->body ==
        R"({"model":"m","max_tokens":0,"messages":[{"role":"user","content":"hi"}],"stream":true})");
}

TEST_CASE("anthropic: leading system turns are joined, later ones are refused") {
  CHECK(holds(encode(asking({turn(role::system, "a"), turn(role::developer, "b"), turn(role::user, "hi")})),
              R"("system":"a\n\nb","messages":[{"role":"user","content":"hi"}])"));
  CHECK(refusal(asking({turn(role::user, "hi"), turn(role::system, "a")})) == errc::unsupported);
}

TEST_CASE("anthropic: turns of one side are one turn, tool results first") {
  CHECK(messages_of(asking({turn(role::user, "a"), turn(role::user, "b"), turn(role::user, "")})) ==
        R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])");
  auto failed = result_of("c2", "no such city");
  failed.is_error = true;
  CHECK(messages_of(
            asking({turn(role::user, "q"), calls({{"c1", "f", ""}, {"c2", "g", "{\"z\": 1.0, \"a\":2}"}}),
                    result_of("c1", "sunny"), failed, turn(role::user, "well?")})) ==
        R"([{"role":"user","content":"q"},{"role":"assistant","content":[)"
        R"({"type":"tool_use","id":"c1","name":"f","input":{}},)"
        R"({"type":"tool_use","id":"c2","name":"g","input":{"z": 1.0, "a":2}}]},)"
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sunny"},)"
        R"({"type":"tool_result","tool_use_id":"c2","content":"no such city","is_error":true},)"
        R"({"type":"text","text":"well?"}]}])");
}

// In one turn llama.cpp's server would put the text before the results, and join what users said.
TEST_CASE("anthropic: where the dialect wants turns apart, only results of one turn's calls are joined") {
  CHECK(
      messages_of(
          asking({turn(role::user, "q"), turn(role::user, "r"), calls({{"c1", "f", ""}, {"c2", "g", "{}"}}),
                  result_of("c1", "sunny"), result_of("c2", "rain"), turn(role::user, "well?")}),
          *wire::find_dialect("llama-server")) ==
      R"([{"role":"user","content":"q"},{"role":"user","content":"r"},{"role":"assistant","content":[)"
      R"({"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"g","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sunny"},)"
      R"({"type":"tool_result","tool_use_id":"c2","content":"rain"}]},{"role":"user","content":"well?"}])");
}

TEST_CASE("anthropic: calls and results that cannot be told are refused") {
  const auto with = [](chat::message history) { return asking({turn(role::user, "q"), std::move(history)}); };
  CHECK(refusal(with(calls({{"c", "f", "{\"a\":"}}))) == errc::invalid_argument);
  CHECK(refusal(with(calls({{"c", "f", "[1]"}}))) == errc::invalid_argument);
  CHECK(refusal(with(calls({{"c", "f", "\"{}\""}}))) == errc::invalid_argument);
  CHECK(refusal(with(calls({{"", "f", "{}"}}))) == errc::invalid_argument);
  CHECK(refusal(with(result_of("", "x"))) == errc::invalid_argument);
}

TEST_CASE("anthropic: the order of turns is the API's") {
  CHECK(refusal(asking({})) == errc::invalid_argument);
  CHECK(refusal(asking({turn(role::system, "s"), turn(role::user, "")})) == errc::invalid_argument);
  CHECK(refusal(asking({turn(role::assistant, "a"), turn(role::user, "b")})) == errc::unsupported);
  const auto prefilled = asking({turn(role::user, "q"), turn(role::assistant, "The answer is")});
  CHECK(messages_of(prefilled) ==
        R"([{"role":"user","content":"q"},{"role":"assistant","content":"The answer is"}])");
  CHECK(refusal(prefilled, version::v2026_10_21) == errc::unsupported);
  CHECK(refusal(asking({turn(role::user, "q"), turn(role::assistant, "so ")})) == errc::unsupported);
}

TEST_CASE("anthropic: images by URL or as base64, in user turns and results") {
  auto look = turn(role::user, "what?");
  look.image_urls = {"data:image/png;base64,AA==", "https://example.org/a.png"};
  CHECK(messages_of(asking({look})) ==
        R"([{"role":"user","content":[{"type":"text","text":"what?"},)"
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},)"
        R"({"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]}])");
  auto shot = result_of("c", "");
  shot.image_urls = {"data:image/jpeg;charset=x;base64,BB=="};
  CHECK(
      messages_of(asking({turn(role::user, "q"), calls({{"c", "f", "{}"}}), shot}))
          .ends_with(
              R"({"type":"tool_result","tool_use_id":"c","content":[)"
              R"({"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"BB=="}}]}]}])"));
  for (const char* url : {"", "file:///a.png", "data:image/png,AA", "data:image/png;base64"}) {
    auto bad = turn(role::user, "what?");
    bad.image_urls = {url};
    CHECK(refusal(asking({bad})) == errc::invalid_argument);
  }
  auto painted = turn(role::assistant, "here");
  painted.image_urls = {"https://example.org/a.png"};
  CHECK(refusal(asking({turn(role::user, "q"), painted})) == errc::unsupported);
}

TEST_CASE("anthropic: thinking blocks go back unchanged and first, bare reasoning is left out") {
  auto thought = calls({{"c", "f", "{}"}});
  thought.text = "Let me see.";
  thought.reasoning = "two and two";
  thought.thinking = {{.text = "two", .signature = "c2ln"}, {.redacted = "ZGF0YQ=="}, {.text = "local"}};
  const auto request = asking({turn(role::user, "q"), thought, result_of("c", "4")});
  CHECK(
      messages_of(request) ==
      R"([{"role":"user","content":"q"},{"role":"assistant","content":[)"
      R"({"type":"thinking","thinking":"two","signature":"c2ln"},)"
      R"({"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"thinking","thinking":"local","signature":""},)"
      R"({"type":"text","text":"Let me see."},{"type":"tool_use","id":"c","name":"f","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"4"}]}])");
  CHECK(encode(request).dropped.empty());
  auto bare = turn(role::assistant, "4");
  bare.reasoning = "two and two";
  CHECK(encode(asking({turn(role::user, "q"), bare, turn(role::user, "sure?")})).dropped ==
        std::vector<std::string>{"reasoning"});
}

TEST_CASE("anthropic: tools and their choice") {
  auto request = asking();
  request.tools = {{"f", "does f", R"({ "type":"object" })"}, {"g", "", ""}};
  const auto made = encode(request);
  CHECK(holds(made, R"("tools":[{"name":"f","description":"does f","input_schema":{ "type":"object" }},)"
                    R"({"name":"g","input_schema":{"type":"object","properties":{}}}],"messages")"));
  auto strict = request;
  strict.tools[1].strict = true;
  CHECK(holds(encode(strict),
              R"({"name":"g","input_schema":{"type":"object","properties":{}},"strict":true}])"));
  const auto written = [&](choice how, std::optional<bool> parallel = {}) {
    request.tool_choice = {how, how == choice::named ? "g" : ""};
    request.parallel_tool_calls = parallel;
    return encode(request);
  };
  CHECK(holds(written(choice::automatic), R"("tool_choice":{"type":"auto"})"));
  CHECK(holds(written(choice::none, false), R"("tool_choice":{"type":"none"})"));
  CHECK(holds(written(choice::required, true), R"("tool_choice":{"type":"any"})"));
  CHECK(holds(written(choice::named, false),
              R"("tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true})"));
  request.tool_choice.reset();
  CHECK(holds(encode(request), R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true})"));
}

TEST_CASE("anthropic: a choice that the server loses is refused unless it makes no difference") {
  static constexpr std::array<std::string_view, 2> lost{"tool_choice.name", "tool_choice.none"};
  auto ways = anthropic();
  ways.messages_ignores = lost;
  auto request = asking();
  request.tools = {{"f", "", "{}"}};
  request.tool_choice = {choice::named, "f"};
  CHECK(holds(encode(request, version::v2023_06_01, ways), R"({"type":"tool","name":"f"})"));
  request.tools.push_back({"g", "", "{}"});
  CHECK(refusal(request, version::v2023_06_01, ways) == errc::unsupported);
  request.tool_choice = {choice::none};
  CHECK(refusal(request, version::v2023_06_01, ways) == errc::unsupported);
}

TEST_CASE("anthropic: sampling fields are sent to the version that knows them") {
  auto request = asking();
  request.params.temperature = 0;
  request.params.top_p = 0.9;
  request.params.top_k = 5;
  const auto older = encode(request);
  CHECK(holds(older, R"("temperature":0.0,"top_k":5)"));
  CHECK(older.dropped == std::vector<std::string>{"top_p"});
  const auto newer = encode(request, version::v2026_10_21);
  for (const char* field : {"temperature", "top_p", "top_k"}) CHECK_FALSE(holds(newer, field));
  CHECK(newer.dropped == std::vector<std::string>{"temperature", "top_p", "top_k"});

  request.params.temperature.reset();
  CHECK(holds(encode(request), R"("top_p":0.9)"));
  request.params.temperature = 1.2;
  CHECK(refusal(request) == errc::unsupported);
  CHECK_FALSE(holds(encode(request, version::v2026_10_21), "temperature"));
}

TEST_CASE("anthropic: what the format has no field for is listed, what counts is refused") {
  auto request = asking();
  request.params.seed = 1;
  request.params.top_logprobs = 2;
  request.params.format.emplace();
  CHECK(encode(request).dropped == std::vector<std::string>{"seed", "logprobs", "response_format"});
  request.params.n = 2;
  CHECK(refusal(request) == errc::unsupported);
}

TEST_CASE("anthropic: stop strings, but none of white space") {
  auto request = asking();
  request.params.stop = {"###", "\nQ:"};
  CHECK(holds(encode(request), R"("stop_sequences":["###","\nQ:"])"));
  for (const char* blank : {"\n\n", ""}) {
    request.params.stop = {blank};
    CHECK(refusal(request) == errc::unsupported);
  }
}

TEST_CASE("anthropic: thinking, effort and a schema for the answer") {
  auto request = asking();
  request.thinking.budget_tokens = 1024;
  CHECK(refusal(request) == errc::invalid_argument);
  request.params.max_tokens = 1025;
  CHECK(holds(encode(request), R"("thinking":{"type":"enabled","budget_tokens":1024})"));
  request.params.max_tokens.reset();
  CHECK(holds(encode(request), R"("max_tokens":5120)"));
  request.thinking.budget_tokens = 1023;
  CHECK(refusal(request) == errc::invalid_argument);

  request = asking();
  request.thinking.enabled = true;
  request.thinking.effort = "low";
  request.params.format = {chat::response_format::kind::json_schema, "s", R"({"type": "object"})", true};
  CHECK(holds(encode(request), R"("thinking":{"type":"adaptive"},"output_config":{"effort":"low",)"
                               R"("format":{"type":"json_schema","schema":{"type": "object"}}})"));
  request.thinking.enabled = false;
  CHECK(holds(encode(request), R"("thinking":{"type":"disabled"})"));
}

TEST_CASE("anthropic: at most four cache breakpoints, the last ones among the messages") {
  constexpr std::string_view mark = R"("cache_control":{"type":"ephemeral"}})";
  auto request = asking({turn(role::system, "s"), turn(role::user, "a"), turn(role::assistant, "b"),
                         turn(role::user, "c"), turn(role::assistant, "d"), turn(role::user, "e")});
  request.tools = {{"f", "", "{}"}, {"g", "", "{}"}};
  request.hints.breakpoints = {.after_tools = true, .after_system = true, .after_messages = {4, 1, 2, 99, 2}};
  const auto made = encode(request);
  CHECK(made.body ==
        R"({"max_tokens":9,"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":{},)" +
            std::string(mark) + R"(],"system":[{"type":"text","text":"s",)" + std::string(mark) +
            R"(],"messages":[{"role":"user","content":"a"},)"
            R"({"role":"assistant","content":[{"type":"text","text":"b",)" +
            std::string(mark) +
            R"(]},{"role":"user","content":"c"},)"
            R"({"role":"assistant","content":[{"type":"text","text":"d",)" +
            std::string(mark) + R"(]},{"role":"user","content":"e"}],"stream":false})");

  // The end of a system turn is the end of a message, too; nothing to mark, nothing sent.
  request.tools.clear();
  request.hints.breakpoints = {.after_tools = true, .after_messages = {0}};
  CHECK(holds(encode(request), R"("system":[{"type":"text","text":"s",)" + std::string(mark)));
  request.messages.erase(request.messages.begin());
  request.hints.breakpoints = {.after_tools = true, .after_system = true};
  CHECK_FALSE(holds(encode(request), "cache_control"));
}

TEST_CASE("anthropic: versions have names") {
  CHECK(wire::name(version::v2023_06_01) == "2023-06-01");
  CHECK(wire::anthropic_version_from("2026-10-21") == version::v2026_10_21);
  CHECK(wire::anthropic_version_from("2024-01-01") == std::nullopt);
}
