#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_chat.hpp>

using namespace evalcore;

// What the table of dialects makes of one and the same request.

namespace {

using fields = std::vector<std::string>;

chat::request demanding() {
  chat::request request;
  request.messages.emplace_back().text = "hi";
  request.params.seed = 1;
  request.params.logprobs = true;
  request.params.format.emplace();
  request.thinking.enabled = false;
  request.thinking.budget_tokens = 2000;
  return request;
}

std::optional<fields> dropped_by(const char* name, bool stream, const chat::request& request = demanding()) {
  const auto made = wire::encode_openai_chat(request, *wire::find_dialect(name), stream);
  if (!made) return std::nullopt;
  return made->dropped;
}

}  // namespace

TEST_CASE("each server's row decides what is dropped from a chat request") {
  CHECK(dropped_by("llama-server", true) == fields{});
  CHECK(dropped_by("vllm", true) == fields{});
  CHECK(dropped_by("omlx", false) == fields{"logprobs"});
  CHECK(dropped_by("mlx-server", false) == fields{"response_format", "thinking", "thinking_budget"});
  CHECK(dropped_by("mlx-server", true) ==
        fields{"response_format", "logprobs", "thinking", "thinking_budget"});
  CHECK(dropped_by("posttrainllm", false) ==
        fields{"seed", "response_format", "thinking", "thinking_budget"});
  auto with_tools = demanding();
  with_tools.tools = {{"f", "", "{}"}};
  CHECK(dropped_by("posttrainllm", false, with_tools) == std::nullopt);
}

TEST_CASE("llama.cpp's messages route loses what its chat route keeps") {
  auto request = demanding();
  request.params.format = {chat::response_format::kind::json_schema, "s", "{}"};
  request.thinking.effort = "low";
  request.tools = {{"f", "", "{}"}};
  request.parallel_tool_calls = false;
  const auto& ways = *wire::find_dialect("llama-server");
  const auto made =
      wire::encode_anthropic_messages(request, ways, wire::anthropic_version::v2023_06_01, false);
  REQUIRE(made);
  CHECK(made->dropped ==
        fields{"parallel_tool_calls", "seed", "logprobs", "response_format", "reasoning_effort"});
  const auto chat = wire::encode_openai_chat(request, ways, false);
  REQUIRE(chat);
  CHECK(chat->dropped.empty());
}
