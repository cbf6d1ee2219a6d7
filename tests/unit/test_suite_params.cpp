#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

#include "unit/suite_lines.hpp"

using namespace evalcore;
using choice = chat::tool_choice::kind;

namespace {

constexpr std::string_view tools = R"("tools":[{"name":"f"},{"name":"g"}],)";

std::string line_with(const std::string& params, std::string_view more = "") {
  return R"({"id":"x","prompt":"?","target":1,)" + std::string(more) + R"("params":)" + params + "}";
}

chat::request request_with(const std::string& params, std::string_view more = "") {
  return item_of(line_with(params, more)).request;
}

std::string complaint_about(const std::string& params, std::string_view more = "") {
  return complaint(line_with(params, more));
}

}  // namespace

TEST_CASE("params: whether and how a tool is called") {
  const auto choose = [](const std::string& value) {
    const auto request = request_with(R"({"tool_choice":)" + value + "}", tools);
    REQUIRE(request.tool_choice);
    return *request.tool_choice;
  };
  CHECK(choose("\"auto\"").how == choice::automatic);
  CHECK(choose("\"none\"").how == choice::none);
  CHECK(choose("\"required\"").how == choice::required);
  const auto named = choose(R"({"type":"function","function":{"name":"g"}})");
  CHECK(named.how == choice::named);
  CHECK(named.name == "g");
  CHECK(request_with(R"({"parallel_tool_calls":false})", tools).parallel_tool_calls == false);
  const auto bare = request_with(R"({"tool_choice":null,"parallel_tool_calls":null})");
  CHECK_FALSE(bare.tool_choice);
  CHECK_FALSE(bare.parallel_tool_calls);
}

TEST_CASE("params: so many likely tokens are drawn from") {
  CHECK(request_with(R"({"top_k":40})").params.top_k == 40U);
  CHECK_FALSE(request_with("{}").params.top_k);
  CHECK(complaint_about(R"({"top_k":0})") == "params: \"top_k\" is not a whole number of 1 or more");
}

TEST_CASE("params: the form of the answer, its schema's order kept") {
  CHECK_FALSE(request_with(R"({"response_format":{"type":"text"}})").params.format);
  const auto object = request_with(R"({"response_format":{"type":"json_object"}})").params.format;
  REQUIRE(object);
  CHECK(object->how == chat::response_format::kind::json_object);
  const auto schema = request_with(R"({"response_format":{"type":"json_schema","json_schema":)"
                                   R"({"name":"s","strict":true,"schema":{"type":"object","b":1.0,"a":1}}}})")
                          .params.format;
  REQUIRE(schema);
  CHECK(schema->how == chat::response_format::kind::json_schema);
  CHECK(schema->name == "s");
  CHECK(schema->schema == R"({"type":"object","b":1.0,"a":1})");
  CHECK(schema->strict == true);
}

TEST_CASE("params: logprobs and thinking") {
  const auto request = request_with(
      R"({"logprobs":true,"top_logprobs":5,"reasoning_effort":"low","thinking":{"type":"enabled","budget_tokens":2048}})");
  CHECK(request.params.logprobs);
  CHECK(request.params.top_logprobs == 5U);
  CHECK(request.thinking.effort == "low");
  CHECK(request.thinking.enabled == true);
  CHECK(request.thinking.budget_tokens == 2048U);
  CHECK(request_with(R"({"thinking":{"type":"disabled"}})").thinking.enabled == false);
  const auto adaptive = request_with(R"({"thinking":{"type":"adaptive"}})").thinking;
  CHECK(adaptive.enabled == true);
  CHECK_FALSE(adaptive.budget_tokens);
  const auto bare = request_with("{}");
  CHECK_FALSE(bare.params.logprobs);
  CHECK_FALSE(bare.params.top_logprobs);
  CHECK_FALSE(bare.thinking.enabled);
  CHECK(bare.thinking.effort.empty());
}

TEST_CASE("params: two items that differ in one of them are two questions") {
  const auto plain = wire::identity_text(request_with("{}", tools));
  for (const char* params : {R"({"tool_choice":"none"})", R"({"parallel_tool_calls":false})",
                             R"({"logprobs":true})", R"({"response_format":{"type":"json_object"}})",
                             R"({"reasoning_effort":"low"})", R"({"thinking":{"type":"disabled"}})"}) {
    CHECK_MESSAGE(wire::identity_text(request_with(params, tools)) != plain, params);
  }
}

TEST_CASE("params: a wrong value is told with the member and the mend") {
  const std::string speaks = " speaks of tools, and the line has no \"tools\"";
  const std::vector<std::pair<std::string, std::string>> bare{
      {R"({"tool_choice":"auto"})", "params: \"tool_choice\"" + speaks},
      {R"({"parallel_tool_calls":true})", "params: \"parallel_tool_calls\"" + speaks},
      {R"({"logprobs":1})", "params: \"logprobs\" is neither true nor false"},
      {R"({"top_logprobs":21})", "params: \"top_logprobs\" is not a whole number from 0 to 20"},
      {R"({"top_logprobs":"2"})", "params: \"top_logprobs\" is not a whole number from 0 to 20"},
      {R"({"logprobs":false,"top_logprobs":2})", "params: \"top_logprobs\" contradicts \"logprobs\": false"},
      {R"({"reasoning_effort":3})", "params: \"reasoning_effort\" is not a string"},
      {R"({"thinking":true})",
       "params: \"thinking\" has no known \"type\"; known are enabled, adaptive, disabled"},
      {R"({"thinking":{"type":"enabled","budget_tokens":0}})",
       "params: \"budget_tokens\" is not a whole number of 1 or more"},
      {R"({"thinking":{"type":"disabled","budget_tokens":1024}})",
       "params: \"thinking\" has \"budget_tokens\", which only \"type\": \"enabled\" has"},
      {R"({"thinking":{"type":"enabled","budget":1}})",
       "params.thinking has \"budget\", which is not supported; known are type, budget_tokens"},
      {R"({"response_format":"json_object"})",
       "params: \"response_format\" has no known \"type\"; known are text, json_object, json_schema"},
      {R"({"response_format":{"type":"grammar"}})",
       "params: \"response_format\" has no known \"type\"; known are text, json_object, json_schema"},
      {R"({"response_format":{"type":"json_schema"}})",
       "params: \"response_format\" lacks \"json_schema\": {\"name\", \"schema\"}"},
      {R"({"response_format":{"type":"json_schema","json_schema":{"schema":{}}}})",
       "params.response_format.json_schema lacks \"name\""},
      {R"({"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":"{}"}}})",
       "params.response_format.json_schema lacks \"schema\", an object"},
      {R"({"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{},"description":"d"}}})",
       "params.response_format.json_schema has \"description\", which is not supported; known are name, "
       "schema, "
       "strict"},
      {R"({"n":2})",
       "params has \"n\", which is not supported; known are temperature, top_p, top_k, max_tokens, seed, "
       "stop, tool_choice, parallel_tool_calls, response_format, logprobs, top_logprobs, thinking, "
       "reasoning_effort"},
  };
  for (const auto& [params, expected] : bare) CHECK(complaint_about(params) == expected);
  const std::vector<std::pair<std::string, std::string>> with_tools{
      {R"({"tool_choice":"any"})",
       "params: \"tool_choice\" is \"any\"; known are auto, none, required, "
       "{\"type\": \"function\", \"function\": {\"name\": …}}"},
      {R"({"tool_choice":{"type":"function","name":"f"}})",
       "params: \"tool_choice\" names no function: {\"type\": \"function\", \"function\": {\"name\": …}}"},
      {R"({"tool_choice":7})",
       "params: \"tool_choice\" names no function: {\"type\": \"function\", \"function\": {\"name\": …}}"},
      {R"({"tool_choice":{"type":"function","function":{"name":"h"}}})",
       "params: \"tool_choice\" names \"h\", which the line's \"tools\" lack"},
      {R"({"parallel_tool_calls":"no"})", "params: \"parallel_tool_calls\" is neither true nor false"},
  };
  for (const auto& [params, expected] : with_tools) CHECK(complaint_about(params, tools) == expected);
}
