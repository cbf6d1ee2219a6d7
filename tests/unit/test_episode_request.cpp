#include <doctest/doctest.h>

#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/chat/history.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "run/episode_request.hpp"
#include "unit/retail.hpp"

using namespace evalcore;

namespace {

chat::reply calling() {
  chat::reply reply;
  reply.text = "Let me see.";
  reply.reasoning = "An order.";
  reply.calls = {{"call_1", "get_order", "{ \"order_id\":\t\"W1\" }"}};
  return reply;
}

chat::message result_of(const std::string& call, const std::string& text) {
  auto turn = test::says(chat::role::tool, text);
  turn.call_id = call;
  return turn;
}

}  // namespace

TEST_CASE("a request that goes on begins with the bytes of the one before and has the calls as they came") {
  const auto first = test::retail_task(1).first();
  const auto second = chat::continued(first, calling(), {result_of("call_1", "W1 is pending")});
  const auto& ways = *wire::find_dialect("generic");
  const auto body = [&](const chat::request& of) { return wire::encode_openai_chat(of, ways, false)->body; };
  // Up to the end of the list of messages, which the tools follow.
  const auto before = body(first).substr(0, body(first).find("],\"tools\""));
  CHECK(before.size() > 100);
  CHECK(body(second).starts_with(before + ","));
  CHECK(body(second).find(R"("arguments":"{ \"order_id\":\t\"W1\" }")") != std::string::npos);
  REQUIRE(second.messages.size() == 4);
  CHECK(second.messages[2].text == "Let me see.");
  CHECK(second.messages[2].reasoning == "An order.");
}

TEST_CASE("what a turn adds to the request is its messages, and settings only where they change") {
  const auto first = test::retail_task(1).first();
  const auto all = json::parse(run::all_of(first));
  REQUIRE(all);
  CHECK(*all->find("kept") == json::value(0));
  CHECK(all->find("messages")->if_array()->size() == 2);
  CHECK(*all->find("settings")->find("temperature") == json::value(0.0));
  CHECK(all->find("settings")->find("tools")->if_array()->size() == 3);
  CHECK(all->find("settings")->find("messages")->if_array()->empty());

  auto second = chat::continued(first, calling(), {result_of("call_1", "W1 is pending")});
  CHECK(run::added_to(first, calling(), second) ==
        R"({"kept":3,"messages":[{"role":"tool","content":"W1 is pending","tool_call_id":"call_1"}]})");

  // A host that edits its history and asks for more tokens.
  second.messages[2].text = "I will see.";
  second.params.max_tokens = 7;
  const auto edited = json::parse(run::added_to(first, calling(), second));
  REQUIRE(edited);
  CHECK(*edited->find("kept") == json::value(2));
  REQUIRE(edited->find("messages")->if_array()->size() == 2);
  CHECK(
      json::to_text(edited->find("messages")->if_array()->front()) ==
      R"({"role":"assistant","content":"I will see.","tool_calls":[{"id":"call_1","type":"function",)"
      R"("function":{"name":"get_order","arguments":"{ \"order_id\":\t\"W1\" }"}}],"reasoning":"An order."})");
  CHECK(*edited->find("settings")->find("max_tokens") == json::value(7));
}

TEST_CASE("episodes are of one family by their tools and system turns, if these are worth a wait") {
  const auto family = [](int number, std::size_t policy) {
    return run::family_of(test::retail_task(number, std::string(policy, 'p')).first());
  };
  CHECK(family(1, 2000) != 0);
  CHECK(family(1, 2000) == family(2, 2000));
  CHECK(family(1, 2000) != family(1, 2001));
  CHECK(family(1, 100) == 0);
}
