#include <doctest/doctest.h>

#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/call_text.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/tool_block.hpp>

using namespace evalcore;
using chat::role;

namespace {

chat::message turn(role who, std::string text) {
  chat::message one;
  one.who = who;
  one.text = std::move(text);
  return one;
}

const chat::tool weather{"get.weather", "Says \"how\" it is.", R"({ "type": "dict", "required": ["city"]})"};
const chat::tool now{"now", "", ""};

}  // namespace

TEST_CASE("the block ends with one JSON object a line, parameters untouched") {
  const std::string block = chat::render_tool_block({weather, now});
  const std::string lines =
      R"({"name":"get.weather","description":"Says \"how\" it is.","parameters":{ "type": "dict", "required": ["city"]}})"
      "\n"
      R"({"name":"now"})";
  REQUIRE(block.ends_with("\n" + lines));
  CHECK(json::parse(lines.substr(0, lines.find('\n'))));
  // BFCL's answer format, as its scorer reads it.
  CHECK(block.find(
            "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]") !=
        std::string::npos);
  // A 135 M model reads this before every question.
  CHECK(block.size() - lines.size() < 400);
}

TEST_CASE("the block stands before the suite's own words") {
  chat::request request;
  request.model = "m";
  request.params.temperature = 0;
  request.tools = {weather, now};
  request.messages = {turn(role::system, "Be brief."), turn(role::user, "hi")};
  const chat::request got = chat::with_tools_as_text(request);
  CHECK(got.tools.empty());
  CHECK(got.model == "m");
  CHECK(got.params.temperature == 0.0);
  REQUIRE(got.messages.size() == 2);
  CHECK(got.messages[0].who == role::system);
  CHECK(got.messages[0].text == chat::render_tool_block(request.tools) + "\n\nBe brief.");
  CHECK(got.messages[1].text == "hi");
}

TEST_CASE("a system turn is made where there is none, and a developer's serves as one") {
  chat::request request;
  request.tools = {now};
  request.messages = {turn(role::user, "hi")};
  const auto made = chat::with_tools_as_text(request);
  REQUIRE(made.messages.size() == 2);
  CHECK(made.messages[0].who == role::system);
  CHECK(made.messages[0].text == chat::render_tool_block(request.tools));

  request.messages = {turn(role::developer, "d"), turn(role::user, "hi")};
  const auto kept = chat::with_tools_as_text(request);
  REQUIRE(kept.messages.size() == 2);
  CHECK(kept.messages[0].who == role::developer);
  CHECK(kept.messages[0].text.ends_with("\n\nd"));
}

TEST_CASE("calls in the history become the text that the model is asked for") {
  chat::request request;
  request.tools = {weather, now};
  chat::message asked = turn(role::assistant, "");
  asked.calls = {{"c1", "get.weather", R"({"city": "Nice", "days": 2, "exact": true})"}, {"c2", "now", ""}};
  chat::message broken = turn(role::assistant, "Let me see.");
  broken.calls = {{"c3", "now", "{cut"}};
  chat::message answer = turn(role::tool, "sunny");
  answer.call_id = "c1";
  request.messages = {turn(role::user, "hi"), asked, answer, broken};
  const auto got = chat::with_tools_as_text(request);
  REQUIRE(got.messages.size() == 5);
  CHECK(got.messages[2].who == role::assistant);
  CHECK(got.messages[2].text == "[get.weather(city='Nice', days=2, exact=True), now()]");
  CHECK(got.messages[2].calls.empty());
  CHECK(chat::decode_calls(got.messages[2].text)->size() == 2);
  CHECK(got.messages[3].who == role::user);
  CHECK(got.messages[3].text == "sunny");
  CHECK(got.messages[3].call_id.empty());
  CHECK(got.messages[4].text == "Let me see.\n[now({cut)]");
}

TEST_CASE("without tools nothing changes") {
  chat::request request;
  request.messages = {turn(role::user, "hi")};
  CHECK(chat::with_tools_as_text(request).messages.size() == 1);
}

TEST_CASE("roles and finish reasons have the names of the wire") {
  for (const char* text : {"system", "developer", "user", "assistant", "tool"}) {
    const auto who = chat::role_from(text);
    REQUIRE(who);
    CHECK(chat::name(*who) == text);
  }
  CHECK_FALSE(chat::role_from("function"));
  CHECK(chat::name(chat::finish_reason::tool_calls) == "tool_calls");
  CHECK(chat::name(chat::finish_reason::length) == "length");
}

TEST_CASE("a tool choice goes with the tools, cache breakpoints stay with their turns") {
  chat::request request;
  request.tools = {{"f", "", "{}"}};
  request.tool_choice = {chat::tool_choice::kind::required};
  request.parallel_tool_calls = false;
  request.messages.emplace_back().text = "hi";
  request.hints.breakpoints = {.after_tools = true, .after_messages = {0}};
  const auto changed = chat::with_tools_as_text(request);
  CHECK_FALSE(changed.tool_choice);
  CHECK_FALSE(changed.parallel_tool_calls);
  CHECK_FALSE(changed.hints.breakpoints.after_tools);
  CHECK(changed.hints.breakpoints.after_system);
  CHECK(changed.hints.breakpoints.after_messages == std::vector<std::size_t>{1});
}
