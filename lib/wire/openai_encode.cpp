#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "wire/encode_parts.hpp"

namespace evalcore::wire {
namespace {

/// Writes one request, and notes what the server does not honour.
class chat_body {
 public:
  chat_body(const chat::request& request, const dialect& ways) : request_(request), ways_(ways) {}

  void put(bool stream);
  [[nodiscard]] encoded take() { return {out_.take(), dropped_.take()}; }

 private:
  void put_content(const chat::message& turn);
  void put_reasoning(const chat::message& turn);
  void put_message(const chat::message& turn);
  void put_tools();
  void put_tool_choice();
  void put_format();
  void put_logprobs(bool stream);
  void put_thinking();

  const chat::request& request_;
  const dialect& ways_;
  json::writer out_{expected_bytes(request_)};
  drop_list dropped_{ways_, route::chat};
};

void chat_body::put_content(const chat::message& turn) {
  out_.key("content");
  if (turn.image_urls.empty()) {
    out_.string(turn.text);
    return;
  }
  out_.begin_array();
  if (!turn.text.empty()) {
    out_.begin_object().key("type").string("text").key("text").string(turn.text).end_object();
  }
  for (const auto& url : turn.image_urls) {
    out_.begin_object().key("type").string("image_url").key("image_url");
    out_.begin_object().key("url").string(url).end_object().end_object();
  }
  out_.end_array();
}

void put_call(json::writer& out, const chat::tool_call& call) {
  out.begin_object();
  if (!call.id.empty()) out.key("id").string(call.id);
  out.key("type").string("function").key("function");
  out.begin_object().key("name").string(call.name);
  out.key("arguments").string(sent_arguments(call.arguments)).end_object();
  out.end_object();
}

void chat_body::put_reasoning(const chat::message& turn) {
  std::string text = turn.reasoning;
  if (text.empty()) {
    for (const auto& block : turn.thinking) text += block.text;
  }
  if (text.empty()) return;
  if (ways_.reasoning.empty()) {
    dropped_.add("reasoning");
  } else if (dropped_.honours(ways_.reasoning)) {
    out_.key(ways_.reasoning).string(text);
  }
}

void chat_body::put_message(const chat::message& turn) {
  out_.begin_object().key("role").string(chat::name(turn.who));
  put_content(turn);
  put_reasoning(turn);
  if (!turn.calls.empty()) {
    out_.key("tool_calls").begin_array();
    for (const auto& call : turn.calls) put_call(out_, call);
    out_.end_array();
  }
  if (!turn.call_id.empty()) out_.key("tool_call_id").string(turn.call_id);
  out_.end_object();
}

void chat_body::put_tools() {
  // An empty array is refused by vLLM.
  if (request_.tools.empty()) return;
  out_.key("tools").begin_array();
  for (const auto& one : request_.tools) {
    out_.begin_object().key("type").string("function").key("function");
    out_.begin_object().key("name").string(one.name);
    if (!one.description.empty()) out_.key("description").string(one.description);
    if (!one.parameters.empty()) out_.key("parameters").raw(one.parameters);
    if (dropped_.honours_strict(one)) out_.key("strict").boolean(true);
    out_.end_object().end_object();
  }
  out_.end_array();
  put_tool_choice();
  if (request_.parallel_tool_calls && dropped_.honours("parallel_tool_calls")) {
    out_.key("parallel_tool_calls").boolean(*request_.parallel_tool_calls);
  }
}

void chat_body::put_tool_choice() {
  // Where the server ignores the field, only "auto" came this far, and it is what happens without.
  if (!request_.tool_choice || ignored(ways_, route::chat, "tool_choice")) return;
  using kind = chat::tool_choice::kind;
  out_.key("tool_choice");
  switch (request_.tool_choice->how) {
    case kind::automatic:
      out_.string("auto");
      break;
    case kind::none:
      out_.string("none");
      break;
    case kind::required:
      out_.string("required");
      break;
    case kind::named:
      out_.begin_object().key("type").string("function").key("function");
      out_.begin_object().key("name").string(request_.tool_choice->name).end_object().end_object();
      break;
  }
}

void chat_body::put_format() {
  const auto& format = request_.params.format;
  if (!format || !dropped_.honours("response_format")) return;
  out_.key("response_format").begin_object().key("type");
  if (format->how == chat::response_format::kind::json_object) {
    out_.string("json_object");
  } else {
    out_.string("json_schema").key("json_schema").begin_object().key("name").string(format->name);
    if (!format->schema.empty()) out_.key("schema").raw(format->schema);
    if (format->strict) out_.key("strict").boolean(*format->strict);
    out_.end_object();
  }
  out_.end_object();
}

void chat_body::put_logprobs(bool stream) {
  const auto& params = request_.params;
  if (!params.logprobs && !params.top_logprobs) return;
  if (ways_.logprobs == trait::no || (stream && ignored(ways_, route::chat, "stream.logprobs"))) {
    dropped_.add("logprobs");
    return;
  }
  if (!dropped_.honours("logprobs")) return;
  // The second without the first is refused.
  out_.key("logprobs").boolean(true);
  if (params.top_logprobs && dropped_.honours("top_logprobs")) {
    out_.key("top_logprobs").number(std::uint64_t{*params.top_logprobs});
  }
}

void chat_body::put_thinking() {
  const auto& wish = request_.thinking;
  if (!wish.effort.empty() && dropped_.honours("reasoning_effort")) {
    out_.key("reasoning_effort").string(wish.effort);
  }
  if (wish.enabled) {
    if (ways_.thinking_switch) {
      out_.key("chat_template_kwargs").begin_object();
      out_.key("enable_thinking").boolean(*wish.enabled).end_object();
    } else {
      dropped_.add("thinking");
    }
  }
  if (!wish.budget_tokens) return;
  if (ways_.thinking_budget.empty()) {
    dropped_.add("thinking_budget");
  } else {
    out_.key(ways_.thinking_budget).number(std::uint64_t{*wish.budget_tokens});
  }
}

void chat_body::put(bool stream) {
  out_.begin_object();
  if (!request_.model.empty()) out_.key("model").string(request_.model);
  out_.key("messages").begin_array();
  for (const auto& turn : request_.messages) put_message(turn);
  out_.end_array();
  put_tools();
  put_sampling(out_, request_.params, ways_.max_tokens_field, dropped_);
  put_format();
  put_logprobs(stream);
  put_thinking();
  out_.key("stream").boolean(stream);
  if (stream) {
    out_.key("stream_options").begin_object().key("include_usage").boolean(true).end_object();
  }
  put_cache_hints(out_, request_.hints, ways_);
  out_.end_object();
}

/// Honours everything that can change an answer.
constexpr dialect everything{.name = "identity",
                             .logprobs = trait::yes,
                             .images = trait::yes,
                             .tool_strict = true,
                             .thinking_switch = true,
                             .thinking_budget = "thinking_budget",
                             .reasoning = "reasoning"};

}  // namespace

result<encoded> encode_openai_chat(const chat::request& request, const dialect& ways, bool stream) {
  if (auto sound = check_request(request, ways, route::chat); !sound) return std::move(sound).error();
  chat_body body(request, ways);
  body.put(stream);
  return body.take();
}

std::string identity_text(const chat::request& request) {
  chat_body body(request, everything);
  body.put(false);
  std::string text = body.take().body;
  // What the format has no field for.
  json::writer more;
  more.begin_array();
  if (request.params.n) more.number(std::uint64_t{*request.params.n});
  for (const auto& turn : request.messages) {
    if (turn.is_error) more.string("is_error").string(turn.call_id);
    for (const auto& block : turn.thinking) {
      more.begin_array().string(block.text).string(block.signature).string(block.redacted).end_array();
    }
  }
  if (!request.choices.empty()) {
    more.string("choices").begin_array();
    for (const auto& one : request.choices) more.string(one);
    more.end_array();
  }
  more.end_array();
  if (more.text() != "[]") text += more.text();
  return text;
}

}  // namespace evalcore::wire
