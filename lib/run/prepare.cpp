#include <evalcore/run/prepare.hpp>

#include <utility>

#include <evalcore/chat/tool_block.hpp>
#include <evalcore/chat/tool_schema.hpp>
#include <evalcore/wire/openai_chat.hpp>

namespace evalcore::run {

result<chat::request> prepare(const item& one, const request_options& how) {
  chat::request request = one.request;
  request.model = how.model;
  auto& params = request.params;
  if (!params.temperature) params.temperature = how.defaults.temperature;
  if (!params.top_p) params.top_p = how.defaults.top_p;
  if (!params.max_tokens) params.max_tokens = how.defaults.max_tokens;
  if (!params.seed) params.seed = how.defaults.seed;
  if (params.stop.empty()) params.stop = how.defaults.stop;
  if (!how.use_prompt_cache) request.hints.use_cache = false;

  if (how.tools == tools_mode::text) return chat::with_tools_as_text(request);
  for (auto& declared : request.tools) {
    auto fitting = chat::to_api_tool(declared);
    if (!fitting) {
      auto failure = std::move(fitting).error();
      failure.message = "item \"" + one.id + "\" (line " + std::to_string(one.line) + "): " + failure.message;
      return failure;
    }
    declared = *std::move(fitting);
  }
  return request;
}

std::string canonical_text(const chat::request& request) {
  chat::request bare = request;
  bare.hints = {};
  return wire::encode_openai_chat(bare, wire::dialects().front(), false);
}

}  // namespace evalcore::run
