#include <doctest/doctest.h>

#include <string>

#include "loopback/chat_client.hpp"
#include "loopback/hostile_answers.hpp"

using namespace evalcore;

TEST_CASE(
    "whatever a hostile server answers ends in an error of its kind, or in a reply that says what was "
    "wrong") {
  for (const auto& one : test::hostile_answers()) {
    CAPTURE(one.name);
    test::fault_server server({{test::send(test::models_answer())}, one.acts});
    const auto outcome = test::chat_client(server.url(), one.streamed).ask();
    CHECK(outcome.has_value() == !one.expected);
    if (outcome) {
      CHECK(outcome->damage != chat::json_damage{});
    } else {
      if (one.expected) CHECK(name(outcome.error().code) == name(*one.expected));
      CHECK_FALSE(outcome.error().message.empty());
      CHECK(outcome.error().message.size() < 1000);
      CHECK(outcome.error().backend_words.size() <= 1024);
    }
  }
}
