#include <doctest/doctest.h>

#include <evalcore/run/request_json.hpp>

using namespace evalcore;

TEST_CASE("messages as JSON read as a suite's do, and what is unknown is refused by name") {
  const auto turns = run::messages_from_json(
      R"([{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"b\":1,\"a\":2}"}}]},{"role":"tool","tool_call_id":"c","content":"3"}])");
  REQUIRE(turns);
  REQUIRE(turns->size() == 3);
  CHECK((*turns)[0].text == "Hi");
  CHECK((*turns)[1].calls.at(0).arguments == R"({"b":1,"a":2})");
  CHECK((*turns)[2].call_id == "c");

  const auto wrong = run::messages_from_json(R"([{"role":"user","contents":"Hi"}])");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == errc::invalid_request);
  CHECK(wrong.error().message.find("contents") != std::string::npos);
  CHECK(run::messages_from_json(R"({"role":"user"})").error().code == errc::invalid_request);
  CHECK(run::messages_from_json("[{").error().code == errc::invalid_request);
  CHECK(run::messages_from_json(R"([{"role":"user","role":"system","content":"x"}])").error().code ==
        errc::invalid_request);
}

TEST_CASE("parameters take the place of those before, and may speak of the request's tools") {
  chat::request request;
  request.params.top_p = 0.5;
  const auto tools = run::tools_from_json(R"([{"type":"function","function":{"name":"f","parameters":{}}}])");
  REQUIRE(tools);
  request.tools = *tools;
  const auto changed = run::with_params_from_json(
      request, R"({"temperature":0,"tool_choice":{"type":"function","function":{"name":"f"}}})");
  REQUIRE(changed);
  CHECK(changed->params.temperature == 0.0);
  CHECK_FALSE(changed->params.top_p);
  CHECK(changed->tool_choice->name == "f");
  CHECK(run::with_params_from_json(request, R"({"tool_choice":{"function":{"name":"g"}}})").error().code ==
        errc::invalid_request);
  CHECK(run::with_params_from_json(request, R"({"temperature":-1})").error().code == errc::invalid_request);
}
