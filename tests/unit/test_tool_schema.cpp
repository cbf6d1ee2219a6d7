#include <doctest/doctest.h>

#include <evalcore/chat/tool_schema.hpp>

using namespace evalcore;

TEST_CASE("python type names become JSON Schema types, inside arrays and objects too") {
  const chat::tool declared{
      "math.mean", "Mean.",
      R"({"type":"dict","required":["xs"],"properties":{"xs":{"type":"array","items":{"type":"float"}},)"
      R"("type":{"type":"any"},"o":{"type":"dict","properties":{"t":{"type":"tuple"}}}}})"};
  const auto fitting = chat::to_api_tool(declared);
  REQUIRE(fitting);
  CHECK(fitting->name == "math_mean");
  CHECK(fitting->parameters ==
        R"({"type":"object","required":["xs"],"properties":{"xs":{"type":"array","items":{"type":"number"}},)"
        R"("type":{"type":"string"},"o":{"type":"object","properties":{"t":{"type":"array"}}}}})");
}

TEST_CASE("a tool that fits keeps its bytes") {
  const chat::tool declared{"now", "Time.", "{ \"type\": \"object\",  \"properties\": {} }"};
  const auto fitting = chat::to_api_tool(declared);
  REQUIRE(fitting);
  CHECK(fitting->parameters == declared.parameters);
}

TEST_CASE("parameters that are no object are the suite's mistake") {
  const auto fitting = chat::to_api_tool({"f", "", "[1]"});
  REQUIRE_FALSE(fitting);
  CHECK(fitting.error().code == errc::bad_suite);
}
