#include <algorithm>
#include <array>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_responses.hpp>

#include "wire/encode_parts.hpp"

namespace evalcore::wire {
namespace {

using chat::role;

bool instructs(const chat::message& turn) {
  return (turn.who == role::system || turn.who == role::developer) && turn.image_urls.empty();
}

/// How many turns become `instructions`. The last turn of all is never one: a request has some input.
std::size_t leading_instructions(const std::vector<chat::message>& turns) {
  const auto other = std::ranges::find_if_not(turns, instructs);
  const auto count = static_cast<std::size_t>(other - turns.begin());
  return count == turns.size() && count > 0 ? count - 1 : count;
}

result<void> check_turns(const chat::request& request) {
  for (const auto& turn : request.messages) {
    if (turn.who == role::tool && turn.call_id.empty()) {
      return refuse(errc::invalid_argument, "a tool's result lacks the id of the call that it answers");
    }
    if (turn.who == role::assistant && !turn.image_urls.empty()) {
      return refuse(errc::unsupported, "the Responses API takes no image in an assistant turn");
    }
    for (const auto& call : turn.calls) {
      if (call.id.empty()) {
        return refuse(errc::invalid_argument, "a tool call lacks its id, which the Responses API wants");
      }
    }
  }
  return {};
}

/// Writes one request, and notes what the API or the server does not honour.
class responses_body {
 public:
  responses_body(const chat::request& request, const dialect& ways) : request_(request), ways_(ways) {}

  void put(bool stream);
  [[nodiscard]] encoded take() { return {out_.take(), dropped_.take()}; }

 private:
  void put_instructions(std::size_t count);
  void put_content(std::string_view key, const chat::message& turn);
  void put_reasoning(const chat::message& turn);
  void put_turn(const chat::message& turn);
  void put_tools();
  void put_tool_choice();
  void put_sampling();
  void put_format();
  void put_logprobs(bool stream);
  void put_thinking();
  void drop_what_has_no_place();

  const chat::request& request_;
  const dialect& ways_;
  json::writer out_{expected_bytes(request_)};
  drop_list dropped_{ways_, route::chat};
};

void responses_body::put_instructions(std::size_t count) {
  if (count == 0) return;
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += (at == 0 ? "" : "\n\n") + request_.messages[at].text;
  out_.key("instructions").string(text);
}

void responses_body::put_content(std::string_view key, const chat::message& turn) {
  out_.key(key);
  if (turn.image_urls.empty()) {
    out_.string(turn.text);
    return;
  }
  out_.begin_array();
  if (!turn.text.empty()) {
    out_.begin_object().key("type").string("input_text").key("text").string(turn.text).end_object();
  }
  for (const auto& url : turn.image_urls) {
    out_.begin_object().key("type").string("input_image").key("image_url").string(url);
    out_.key("detail").string("auto").end_object();
  }
  out_.end_array();
}

/// An item without content, or with one piece of text.
void put_texts(json::writer& out, std::string_view key, std::string_view type, std::string_view text) {
  out.key(key).begin_array();
  if (!text.empty()) out.begin_object().key("type").string(type).key("text").string(text).end_object();
  out.end_array();
}

void responses_body::put_reasoning(const chat::message& turn) {
  bool sent = false;
  for (const auto& block : turn.thinking) {
    if (block.id.empty()) continue;
    sent = true;
    out_.begin_object().key("type").string("reasoning").key("id").string(block.id);
    // Who hands out encrypted reasoning shows a summary of it; who does not shows the text itself.
    const bool encrypted = !block.signature.empty();
    put_texts(out_, "summary", "summary_text", encrypted ? block.text : "");
    if (encrypted) {
      out_.key("encrypted_content").string(block.signature);
    } else {
      put_texts(out_, "content", "reasoning_text", block.text);
    }
    out_.end_object();
  }
  if (!sent && !(turn.reasoning.empty() && turn.thinking.empty())) dropped_.add("reasoning");
}

void responses_body::put_turn(const chat::message& turn) {
  if (turn.who == role::tool) {
    out_.begin_object().key("type").string("function_call_output").key("call_id").string(turn.call_id);
    put_content("output", turn);
    out_.end_object();
    return;
  }
  put_reasoning(turn);
  if (!turn.text.empty() || !turn.image_urls.empty() || turn.calls.empty()) {
    out_.begin_object().key("type").string("message").key("role").string(chat::name(turn.who));
    put_content("content", turn);
    out_.end_object();
  }
  for (const auto& call : turn.calls) {
    out_.begin_object().key("type").string("function_call").key("call_id").string(call.id);
    out_.key("name").string(call.name).key("arguments").string(sent_arguments(call.arguments)).end_object();
  }
}

void responses_body::put_tools() {
  if (request_.tools.empty()) return;
  out_.key("tools").begin_array();
  for (const auto& one : request_.tools) {
    out_.begin_object().key("type").string("function").key("name").string(one.name);
    if (!one.description.empty()) out_.key("description").string(one.description);
    if (!one.parameters.empty()) out_.key("parameters").raw(one.parameters);
    out_.key("strict").boolean(dropped_.honours_strict(one)).end_object();
  }
  out_.end_array();
  put_tool_choice();
  if (request_.parallel_tool_calls && dropped_.honours("parallel_tool_calls")) {
    out_.key("parallel_tool_calls").boolean(*request_.parallel_tool_calls);
  }
}

void responses_body::put_tool_choice() {
  // Where the server ignores the field, only "auto" came this far, and it is what happens without.
  if (!request_.tool_choice || ignored(ways_, route::chat, "tool_choice")) return;
  using kind = chat::tool_choice::kind;
  static constexpr std::array<std::string_view, 3> words{"auto", "none", "required"};
  out_.key("tool_choice");
  if (request_.tool_choice->how != kind::named) {
    out_.string(words[static_cast<std::size_t>(request_.tool_choice->how)]);
    return;
  }
  out_.begin_object().key("type").string("function");
  out_.key("name").string(request_.tool_choice->name).end_object();
}

void responses_body::put_sampling() {
  const auto& params = request_.params;
  if (params.max_tokens && dropped_.honours(ways_.max_tokens_field)) {
    out_.key("max_output_tokens").number(std::uint64_t{*params.max_tokens});
  }
  if (params.temperature && dropped_.honours("temperature"))
    out_.key("temperature").number(*params.temperature);
  if (params.top_p && dropped_.honours("top_p")) out_.key("top_p").number(*params.top_p);
}

void responses_body::put_format() {
  const auto& format = request_.params.format;
  if (!format || !dropped_.honours("response_format")) return;
  out_.key("text").begin_object().key("format").begin_object().key("type");
  if (format->how == chat::response_format::kind::json_object) {
    out_.string("json_object");
  } else {
    out_.string("json_schema").key("name").string(format->name);
    if (!format->schema.empty()) out_.key("schema").raw(format->schema);
    if (format->strict) out_.key("strict").boolean(*format->strict);
  }
  out_.end_object().end_object();
}

void responses_body::put_logprobs(bool stream) {
  const auto& params = request_.params;
  if (!params.logprobs && !params.top_logprobs) return;
  if (ways_.logprobs == trait::no || (stream && ignored(ways_, route::chat, "stream.logprobs"))) {
    dropped_.add("logprobs");
    return;
  }
  if (!dropped_.honours("logprobs")) return;
  out_.key("include").begin_array().string("message.output_text.logprobs").end_array();
  if (params.top_logprobs && dropped_.honours("top_logprobs")) {
    out_.key("top_logprobs").number(std::uint64_t{*params.top_logprobs});
  }
}

void responses_body::put_thinking() {
  const auto& effort = request_.thinking.effort;
  if (effort.empty() || !dropped_.honours("reasoning_effort")) return;
  out_.key("reasoning").begin_object().key("effort").string(effort).end_object();
}

void responses_body::drop_what_has_no_place() {
  if (request_.params.top_k) dropped_.add("top_k");
  if (request_.params.seed) dropped_.add("seed");
  if (!request_.params.stop.empty()) dropped_.add("stop");
  if (request_.thinking.enabled) dropped_.add("thinking");
  if (request_.thinking.budget_tokens) dropped_.add("thinking_budget");
}

void responses_body::put(bool stream) {
  const std::size_t instructions = leading_instructions(request_.messages);
  out_.begin_object();
  if (!request_.model.empty()) out_.key("model").string(request_.model);
  put_instructions(instructions);
  out_.key("input").begin_array();
  for (std::size_t at = instructions; at < request_.messages.size(); ++at) put_turn(request_.messages[at]);
  out_.end_array();
  put_tools();
  put_sampling();
  put_format();
  put_logprobs(stream);
  put_thinking();
  drop_what_has_no_place();
  out_.key("store").boolean(false);
  out_.key("stream").boolean(stream);
  put_cache_hints(out_, request_.hints, ways_);
  out_.end_object();
}

}  // namespace

result<encoded> encode_openai_responses(const chat::request& request, const dialect& ways, bool stream) {
  if (auto sound = check_request(request, ways, route::chat); !sound) return std::move(sound).error();
  if (auto sound = check_turns(request); !sound) return std::move(sound).error();
  responses_body body(request, ways);
  body.put(stream);
  return body.take();
}

}  // namespace evalcore::wire
