#include <array>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/anthropic_messages.hpp>

#include "wire/anthropic_turns.hpp"
#include "wire/encode_parts.hpp"

namespace evalcore::wire {
namespace {

constexpr std::uint32_t least_thinking_budget = 1024;
constexpr std::string_view no_parameters = R"({"type":"object","properties":{}})";

/// Writes one request, and notes what the server does not honour.
class messages_body {
 public:
  messages_body(const chat::request& request, const dialect& ways, anthropic_version version)
      : request_(request), ways_(ways), has_sampling_(version == anthropic_version::v2023_06_01) {}

  [[nodiscard]] result<encoded> put(const message_turns& turns, bool stream);

 private:
  void put_system(const message_turns& turns);
  void put_tools(bool breakpoint);
  void put_tool_choice();
  [[nodiscard]] result<void> put_sampling();
  [[nodiscard]] result<void> put_stop();
  [[nodiscard]] result<void> put_thinking();
  void put_output_config();

  const chat::request& request_;
  const dialect& ways_;
  const bool has_sampling_;
  json::writer out_{expected_bytes(request_)};
  drop_list dropped_{ways_, route::messages};
};

void messages_body::put_system(const message_turns& turns) {
  if (turns.system.empty()) return;
  out_.key("system");
  if (!turns.after_system) {
    out_.string(turns.system);
    return;
  }
  out_.begin_array().begin_object().key("type").string("text").key("text").string(turns.system);
  put_cache_control(out_);
  out_.end_object().end_array();
}

void messages_body::put_tools(bool breakpoint) {
  if (request_.tools.empty()) return;
  out_.key("tools").begin_array();
  for (const auto& one : request_.tools) {
    out_.begin_object().key("name").string(one.name);
    if (!one.description.empty()) out_.key("description").string(one.description);
    out_.key("input_schema").raw(one.parameters.empty() ? no_parameters : one.parameters);
    if (dropped_.honours_strict(one)) out_.key("strict").boolean(true);
    if (breakpoint && &one == &request_.tools.back()) put_cache_control(out_);
    out_.end_object();
  }
  out_.end_array();
  put_tool_choice();
}

void messages_body::put_tool_choice() {
  using kind = chat::tool_choice::kind;
  const auto& parallel = request_.parallel_tool_calls;
  const bool one_call = parallel && !*parallel && dropped_.honours("parallel_tool_calls");
  if (ignored(ways_, route::messages, "tool_choice")) return;
  if (!request_.tool_choice && !one_call) return;
  const auto how = request_.tool_choice ? request_.tool_choice->how : kind::automatic;
  static constexpr std::array<std::string_view, 4> types{"auto", "none", "any", "tool"};
  out_.key("tool_choice").begin_object().key("type").string(types[static_cast<std::size_t>(how)]);
  if (how == kind::named) out_.key("name").string(request_.tool_choice->name);
  if (one_call && how != kind::none) out_.key("disable_parallel_tool_use").boolean(true);
  out_.end_object();
}

result<void> messages_body::put_sampling() {
  const auto& params = request_.params;
  if (params.temperature && has_sampling_) {
    if (*params.temperature > 1) {
      return refuse(errc::unsupported, "Anthropic's temperature ends at 1, and the request asks for more");
    }
    if (dropped_.honours("temperature")) out_.key("temperature").number(*params.temperature);
  } else if (params.temperature) {
    dropped_.add("temperature");
  }
  // Newer models refuse the two together.
  if (params.top_p && has_sampling_ && !params.temperature) {
    if (dropped_.honours("top_p")) out_.key("top_p").number(*params.top_p);
  } else if (params.top_p) {
    dropped_.add("top_p");
  }
  if (params.top_k && has_sampling_) {
    if (dropped_.honours("top_k")) out_.key("top_k").number(std::uint64_t{*params.top_k});
  } else if (params.top_k) {
    dropped_.add("top_k");
  }
  if (params.seed) dropped_.add("seed");
  if (params.logprobs || params.top_logprobs) dropped_.add("logprobs");
  return {};
}

result<void> messages_body::put_stop() {
  const auto& stop = request_.params.stop;
  if (stop.empty() || !dropped_.honours("stop")) return {};
  out_.key("stop_sequences").begin_array();
  for (const auto& text : stop) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      return refuse(errc::unsupported, "Anthropic's API takes no stop string of white space alone");
    }
    out_.string(text);
  }
  out_.end_array();
  return {};
}

result<void> messages_body::put_thinking() {
  const auto& wish = request_.thinking;
  if (!wish.enabled && !wish.budget_tokens) return {};
  if (!dropped_.honours("thinking")) return {};
  out_.key("thinking").begin_object().key("type");
  if (!wish.enabled.value_or(true)) {
    out_.string("disabled");
  } else if (!wish.budget_tokens) {
    out_.string("adaptive");
  } else {
    const std::uint32_t budget = *wish.budget_tokens;
    if (budget < least_thinking_budget || budget >= request_.params.max_tokens.value_or(UINT32_MAX)) {
      return refuse(errc::invalid_argument,
                    "a thinking budget must be 1024 or more and less than max_tokens");
    }
    out_.string("enabled").key("budget_tokens").number(std::uint64_t{budget});
  }
  out_.end_object();
  return {};
}

void messages_body::put_output_config() {
  const auto& format = request_.params.format;
  bool by_schema = format && format->how == chat::response_format::kind::json_schema;
  if (format && (!by_schema || !dropped_.honours("response_format"))) {
    dropped_.add("response_format");
    by_schema = false;
  }
  const auto& effort = request_.thinking.effort;
  const bool with_effort = !effort.empty() && dropped_.honours("reasoning_effort");
  if (!by_schema && !with_effort) return;
  out_.key("output_config").begin_object();
  if (with_effort) out_.key("effort").string(effort);
  if (by_schema) {
    out_.key("format").begin_object().key("type").string("json_schema");
    out_.key("schema").raw(format->schema).end_object();
  }
  out_.end_object();
}

result<encoded> messages_body::put(const message_turns& turns, bool stream) {
  for (const auto& field : turns.dropped) dropped_.add(field);
  out_.begin_object();
  if (!request_.model.empty()) out_.key("model").string(request_.model);
  const std::uint64_t thinking = request_.thinking.budget_tokens.value_or(0);
  out_.key("max_tokens");
  out_.number(std::uint64_t{request_.params.max_tokens.value_or(0)} +
              (request_.params.max_tokens ? 0 : thinking + anthropic_default_max_tokens));
  put_tools(turns.after_tools);
  put_system(turns);
  out_.key("messages");
  turns.put(out_);
  if (auto put = put_sampling(); !put) return std::move(put).error();
  if (auto put = put_stop(); !put) return std::move(put).error();
  if (auto put = put_thinking(); !put) return std::move(put).error();
  put_output_config();
  out_.key("stream").boolean(stream);
  out_.end_object();
  return encoded{out_.take(), dropped_.take()};
}

}  // namespace

std::string_view name(anthropic_version version) noexcept {
  switch (version) {
    case anthropic_version::v2023_06_01:
      return "2023-06-01";
    case anthropic_version::v2026_10_21:
      return "2026-10-21";
  }
  return "unknown";
}

std::optional<anthropic_version> anthropic_version_from(std::string_view text) noexcept {
  for (const auto one : {anthropic_version::v2023_06_01, anthropic_version::v2026_10_21}) {
    if (name(one) == text) return one;
  }
  return std::nullopt;
}

result<encoded> encode_anthropic_messages(const chat::request& request, const dialect& ways,
                                          anthropic_version version, bool stream) {
  if (auto sound = check_request(request, ways, route::messages); !sound) return std::move(sound).error();
  const auto turns = read_message_turns(request, ways, version == anthropic_version::v2023_06_01);
  if (!turns) return turns.error();
  return messages_body(request, ways, version).put(*turns, stream);
}

}  // namespace evalcore::wire
