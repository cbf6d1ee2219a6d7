#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_responses.hpp>

using namespace evalcore;
using chat::role;
using choice = chat::tool_choice::kind;

namespace {

chat::message turn(role who, std::string text) {
  chat::message one;
  one.who = who;
  one.text = std::move(text);
  return one;
}

chat::request asking(std::vector<chat::message> messages = {turn(role::user, "hi")}) {
  chat::request request;
  request.messages = std::move(messages);
  return request;
}

const wire::dialect& openai() { return *wire::find_dialect("openai"); }

wire::encoded encode(const chat::request& request, const wire::dialect& ways = openai(),
                     bool stream = false) {
  auto made = wire::encode_openai_responses(request, ways, stream);
  REQUIRE(made);
  REQUIRE(json::parse(made->body));
  return *std::move(made);
}

/// The body between the input's end and "store".
std::string options_of(const chat::request& request, const wire::dialect& ways = openai()) {
  const std::string body = encode(request, ways).body;
  const std::string_view input = R"("input":[{"type":"message","role":"user","content":"hi"}])";
  const std::size_t from = body.find(input) + input.size();
  return body.substr(from, body.find(",\"store\"") - from);
}

std::string input_of(const chat::request& request) {
  const std::string body = encode(request).body;
  return body.substr(1, body.find(",\"store\"") - 1);
}

errc refusal(const chat::request& request, const wire::dialect& ways = openai()) {
  const auto made = wire::encode_openai_responses(request, ways, false);
  REQUIRE_FALSE(made);
  CHECK_FALSE(made.error().message.empty());
  return made.error().code;
}

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("responses request: the least one keeps nothing at the server") {
  CHECK(encode(asking()).body ==
        R"({"input":[{"type":"message","role":"user","content":"hi"}],"store":false,"stream":false})");
  auto request = asking();
  request.model = "m";
  CHECK(
      encode(request, openai(), true).body ==
      R"({"model":"m","input":[{"type":"message","role":"user","content":"hi"}],"store":false,"stream":true})");
}

TEST_CASE("responses request: leading system turns are instructions, later ones stay where they are") {
  CHECK(
      input_of(asking({turn(role::system, "A"), turn(role::developer, "B"), turn(role::user, "hi"),
                       turn(role::assistant, "yes"), turn(role::system, "C"), turn(role::user, "go")})) ==
      R"("instructions":"A\n\nB","input":[{"type":"message","role":"user","content":"hi"},)"
      R"({"type":"message","role":"assistant","content":"yes"},)"
      R"({"type":"message","role":"system","content":"C"},{"type":"message","role":"user","content":"go"}])");
  // A request has some input.
  CHECK(input_of(asking({turn(role::system, "A")})) ==
        R"("input":[{"type":"message","role":"system","content":"A"}])");
  CHECK(input_of(asking({})) == R"("input":[])");
}

TEST_CASE("responses request: images are parts beside the text") {
  auto user = turn(role::user, "look");
  user.image_urls = {"data:image/png;base64,AA==", "https://x/y.png"};
  CHECK(input_of(asking({user})) ==
        R"("input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},)"
        R"({"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"auto"},)"
        R"({"type":"input_image","image_url":"https://x/y.png","detail":"auto"}]}])");
  auto tool = turn(role::tool, "");
  tool.call_id = "c1";
  tool.image_urls = {"https://x/y.png"};
  CHECK(input_of(asking({tool})) ==
        R"("input":[{"type":"function_call_output","call_id":"c1","output":)"
        R"([{"type":"input_image","image_url":"https://x/y.png","detail":"auto"}]}])");
  auto assistant = turn(role::assistant, "a");
  assistant.image_urls = {"https://x/y.png"};
  CHECK(refusal(asking({assistant})) == errc::unsupported);
  CHECK(refusal(asking({user}), *wire::find_dialect("posttrainllm")) == errc::unsupported);
}

TEST_CASE("responses request: calls, their results, and the reasoning before them are items") {
  auto made = turn(role::assistant, "Let me see.");
  made.calls = {{"c1", "f", R"({"b":1,"a":2.50})"}, {"c2", "g", "{}"}};
  made.thinking = {{.text = "why", .signature = "gAAA", .redacted = {}, .id = "rs_1"},
                   {.text = "open", .signature = {}, .redacted = {}, .id = "rs_2"},
                   {.text = {}, .signature = "gBBB", .redacted = {}, .id = "rs_3"}};
  auto answer = turn(role::tool, "12 °C");
  answer.call_id = "c1";
  CHECK(
      input_of(asking({turn(role::user, "hi"), made, answer})) ==
      R"("input":[{"type":"message","role":"user","content":"hi"},)"
      R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"gAAA"},)"
      R"({"type":"reasoning","id":"rs_2","summary":[],"content":[{"type":"reasoning_text","text":"open"}]},)"
      R"({"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":"gBBB"},)"
      R"({"type":"message","role":"assistant","content":"Let me see."},)"
      R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{\"b\":1,\"a\":2.50}"},)"
      R"({"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c1","output":"12 °C"}])");
}

TEST_CASE("responses request: reasoning that has no item's name is left out and listed") {
  auto made = turn(role::assistant, "a");
  made.reasoning = "because";
  CHECK(encode(asking({turn(role::user, "hi"), made})).dropped == words{"reasoning"});
  made.thinking = {{.text = "because", .signature = "of another server", .redacted = {}, .id = {}}};
  CHECK(encode(asking({turn(role::user, "hi"), made})).dropped == words{"reasoning"});
  made.thinking.front().id = "rs_1";
  CHECK(encode(asking({turn(role::user, "hi"), made})).dropped.empty());
}

TEST_CASE("responses request: a call without its id is refused") {
  auto made = turn(role::assistant, "");
  made.calls = {{"", "f", "{}"}};
  CHECK(refusal(asking({turn(role::user, "hi"), made})) == errc::invalid_argument);
  CHECK(refusal(asking({turn(role::tool, "12")})) == errc::invalid_argument);
}

TEST_CASE("responses request: tools are flat, not strict, and keep their bytes") {
  auto request = asking();
  request.tools = {{"f", "does f", R"({"type": "object",  "properties": {"x": {"minimum": 1.0}}})"},
                   {"g", "", ""}};
  CHECK(options_of(request) ==
        R"(,"tools":[{"type":"function","name":"f","description":"does f",)"
        R"("parameters":{"type": "object",  "properties": {"x": {"minimum": 1.0}}},"strict":false},)"
        R"({"type":"function","name":"g","strict":false}])");
}

TEST_CASE("responses request: a strict tool is one where the server knows such") {
  auto request = asking();
  request.tools = {{"f", "", "", true}};
  const auto honoured = encode(request, *wire::find_dialect("openai"));
  CHECK(honoured.body.find(R"({"type":"function","name":"f","strict":true})") != std::string::npos);
  CHECK(honoured.dropped.empty());
  CHECK(encode(request, *wire::find_dialect("generic")).dropped == words{"tools.strict"});
}

TEST_CASE("responses request: whether and how a tool is called") {
  auto request = asking();
  request.tools = {{"f", "", ""}};
  const std::string tools = R"(,"tools":[{"type":"function","name":"f","strict":false}])";
  request.tool_choice = {choice::automatic};
  CHECK(options_of(request) == tools + R"(,"tool_choice":"auto")");
  request.tool_choice = {choice::none};
  CHECK(options_of(request) == tools + R"(,"tool_choice":"none")");
  request.tool_choice = {choice::required};
  CHECK(options_of(request) == tools + R"(,"tool_choice":"required")");
  request.tool_choice = {choice::named, "f"};
  request.parallel_tool_calls = false;
  CHECK(options_of(request) ==
        tools + R"(,"tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false)");
  request.tool_choice = {choice::named, "g"};
  CHECK(refusal(request) == errc::invalid_argument);
  request.tools.clear();
  request.tool_choice = {choice::required};
  CHECK(refusal(request) == errc::invalid_argument);
}

TEST_CASE("responses request: sampling, format, logprobs and effort by the names of this API") {
  auto request = asking();
  request.params.max_tokens = 64;
  request.params.temperature = 0;
  request.params.top_p = 0.5;
  request.params.format = {{chat::response_format::kind::json_schema, "s", R"({"type": "object"})", true}};
  request.params.top_logprobs = 3;
  request.thinking.effort = "low";
  request.hints.prompt_cache_key = "k";
  CHECK(options_of(request) ==
        R"(,"max_output_tokens":64,"temperature":0.0,"top_p":0.5,)"
        R"("text":{"format":{"type":"json_schema","name":"s","schema":{"type": "object"},"strict":true}},)"
        R"("include":["message.output_text.logprobs"],"top_logprobs":3,"reasoning":{"effort":"low"})");
  CHECK(encode(request).dropped.empty());
  CHECK(encode(request).body.ends_with(R"("store":false,"stream":false,"prompt_cache_key":"k"})"));

  auto other = asking();
  other.params.format = {{chat::response_format::kind::json_object}};
  other.params.logprobs = true;
  CHECK(options_of(other) ==
        R"(,"text":{"format":{"type":"json_object"}},"include":["message.output_text.logprobs"])");
}

TEST_CASE("responses request: what the API has no place for is listed, and n is refused") {
  auto request = asking();
  request.params.stop = {"x"};
  request.params.seed = 7;
  request.params.top_k = 40;
  request.thinking.enabled = true;
  request.thinking.budget_tokens = 2048;
  const auto made = encode(request);
  CHECK(made.dropped == words{"top_k", "seed", "stop", "thinking", "thinking_budget"});
  CHECK(made.body == encode(asking()).body);
  request.params.n = 2;
  CHECK(refusal(request) == errc::unsupported);
}

TEST_CASE("responses request: what a server ignores is refused or listed, as in a chat request") {
  auto request = asking();
  request.params.format = {{chat::response_format::kind::json_object}};
  request.params.logprobs = true;
  CHECK(encode(request, *wire::find_dialect("omlx")).dropped == words{"logprobs"});
  request.tools = {{"f", "", ""}};
  request.tool_choice = {choice::required};
  CHECK(refusal(request, *wire::find_dialect("ollama")) == errc::unsupported);
}
