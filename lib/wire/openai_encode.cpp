#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

namespace evalcore::wire {
namespace {

void put_content(json::writer& out, const chat::message& turn) {
  out.key("content");
  if (turn.image_urls.empty()) {
    out.string(turn.text);
    return;
  }
  out.begin_array();
  if (!turn.text.empty()) {
    out.begin_object().key("type").string("text").key("text").string(turn.text).end_object();
  }
  for (const auto& url : turn.image_urls) {
    out.begin_object().key("type").string("image_url").key("image_url");
    out.begin_object().key("url").string(url).end_object().end_object();
  }
  out.end_array();
}

void put_call(json::writer& out, const chat::tool_call& call) {
  out.begin_object();
  if (!call.id.empty()) out.key("id").string(call.id);
  out.key("type").string("function").key("function");
  out.begin_object().key("name").string(call.name).key("arguments").string(call.arguments).end_object();
  out.end_object();
}

void put_message(json::writer& out, const chat::message& turn) {
  out.begin_object().key("role").string(chat::name(turn.who));
  put_content(out, turn);
  if (!turn.calls.empty()) {
    out.key("tool_calls").begin_array();
    for (const auto& call : turn.calls) put_call(out, call);
    out.end_array();
  }
  if (!turn.call_id.empty()) out.key("tool_call_id").string(turn.call_id);
  out.end_object();
}

void put_tool(json::writer& out, const chat::tool& one) {
  out.begin_object().key("type").string("function").key("function");
  out.begin_object().key("name").string(one.name);
  if (!one.description.empty()) out.key("description").string(one.description);
  if (!one.parameters.empty()) out.key("parameters").raw(one.parameters);
  out.end_object().end_object();
}

void put_parameters(json::writer& out, const chat::parameters& params) {
  if (params.max_tokens) out.key("max_tokens").number(std::uint64_t{*params.max_tokens});
  if (params.temperature) out.key("temperature").number(*params.temperature);
  if (params.top_p) out.key("top_p").number(*params.top_p);
  if (params.seed) out.key("seed").number(*params.seed);
  if (!params.stop.empty()) {
    out.key("stop").begin_array();
    for (const auto& text : params.stop) out.string(text);
    out.end_array();
  }
}

}  // namespace

std::string encode_openai_chat(const chat::request& request, const dialect& ways, bool stream) {
  json::writer out;
  out.begin_object();
  if (!request.model.empty()) out.key("model").string(request.model);
  out.key("messages").begin_array();
  for (const auto& turn : request.messages) put_message(out, turn);
  out.end_array();
  // An empty array is refused by vLLM.
  if (!request.tools.empty()) {
    out.key("tools").begin_array();
    for (const auto& one : request.tools) put_tool(out, one);
    out.end_array();
  }
  put_parameters(out, request.params);
  out.key("stream").boolean(stream);
  if (stream) {
    out.key("stream_options").begin_object().key("include_usage").boolean(true).end_object();
  }
  if (ways.slot_pinning && request.hints.slot) out.key("id_slot").number(std::uint64_t{*request.hints.slot});
  if (ways.cache_switch && request.hints.use_cache) out.key("cache_prompt").boolean(*request.hints.use_cache);
  out.end_object();
  return out.take();
}

}  // namespace evalcore::wire
