#include "run/store_codec.hpp"

#include <array>
#include <utility>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>

namespace evalcore::run {
namespace {

void count(json::writer& out, std::string_view key, const std::optional<std::uint64_t>& value) {
  if (value) out.key(key).number(*value);
}

void span(json::writer& out, std::string_view key, const std::optional<duration>& value) {
  if (value) out.key(key).number(std::int64_t{value->count()});
}

std::optional<std::uint64_t> count_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = found->if_int()) return static_cast<std::uint64_t>(*number);
  if (const auto* large = found->if_uint()) return *large;
  return std::nullopt;
}

std::optional<duration> span_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  const auto* number = found != nullptr ? found->if_int() : nullptr;
  return number != nullptr ? std::optional<duration>(*number) : std::nullopt;
}

std::optional<chat::finish_reason> finish_from(std::string_view text) {
  using enum chat::finish_reason;
  for (const auto one : {stop, length, tool_calls, content_filter, other}) {
    if (chat::name(one) == text) return one;
  }
  return std::nullopt;
}

// What came into the format later stands only where there is something to say, so that older rows read.
void optional_text(json::writer& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.key(key).string(value);
}

std::string optional_text_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  const auto* text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? *text : std::string();
}

const json::array& optional_list(const json::value& from, std::string_view key) {
  static const json::array none;
  const auto* found = from.find(key);
  const auto* list = found != nullptr ? found->if_array() : nullptr;
  return list != nullptr ? *list : none;
}

void put_thinking(json::writer& out, const std::vector<chat::thinking_block>& blocks) {
  if (blocks.empty()) return;
  out.key("thinking").begin_array();
  for (const auto& one : blocks) {
    out.begin_object();
    optional_text(out, "text", one.text);
    optional_text(out, "signature", one.signature);
    optional_text(out, "redacted", one.redacted);
    optional_text(out, "id", one.id);
    out.end_object();
  }
  out.end_array();
}

void put_token(json::writer& out, const chat::token_choice& one) {
  out.key("token").string(one.token);
  if (one.logprob) out.key("logprob").number(*one.logprob);
  if (!one.bytes) return;
  // A token may hold a part of a character, which is no text.
  out.key("bytes").begin_array();
  for (const char byte : *one.bytes) out.number(std::int64_t{static_cast<unsigned char>(byte)});
  out.end_array();
}

chat::token_choice token_of(const json::value& from) {
  chat::token_choice out;
  out.token = optional_text_of(from, "token");
  double number = 0;
  if (const auto* held = from.find("logprob")) {
    if (const auto* logprob = held->as_double(number)) out.logprob = *logprob;
  }
  if (from.find("bytes") != nullptr) {
    out.bytes.emplace();
    for (const auto& byte : optional_list(from, "bytes")) {
      if (const auto* code = byte.if_int()) *out.bytes += static_cast<char>(*code);
    }
  }
  return out;
}

void put_logprobs(json::writer& out, const std::vector<chat::token_logprob>& tokens) {
  if (tokens.empty()) return;
  out.key("logprobs").begin_array();
  for (const auto& one : tokens) {
    out.begin_object();
    put_token(out, one);
    if (!one.top.empty()) {
      out.key("top").begin_array();
      for (const auto& other : one.top) {
        out.begin_object();
        put_token(out, other);
        out.end_object();
      }
      out.end_array();
    }
    out.end_object();
  }
  out.end_array();
}

struct named_damage {
  std::string_view name;
  bool chat::json_damage::* flag;
};

constexpr std::array damages{named_damage{"duplicate_key", &chat::json_damage::duplicate_key},
                             named_damage{"invalid_utf8", &chat::json_damage::invalid_utf8},
                             named_damage{"lone_surrogate", &chat::json_damage::lone_surrogate}};

void put_damage(json::writer& out, const chat::json_damage& found) {
  if (found == chat::json_damage{}) return;
  out.key("damage").begin_array();
  for (const auto& one : damages) {
    if (found.*one.flag) out.string(one.name);
  }
  out.end_array();
}

chat::json_damage damage_of(const json::value& root) {
  chat::json_damage found;
  for (const auto& held : optional_list(root, "damage")) {
    for (const auto& one : damages) found.*one.flag |= held == json::value(one.name);
  }
  return found;
}

void put_choices(json::writer& out, const std::vector<chat::loglikelihood>& choices) {
  if (choices.empty()) return;
  out.key("choices").begin_array();
  for (const auto& one : choices) {
    out.begin_object().key("sum_logprob").number(one.sum_logprob);
    if (one.is_greedy) out.key("is_greedy").boolean(*one.is_greedy);
    out.key("tokens").number(one.tokens).end_object();
  }
  out.end_array();
}

/// Nothing where one has no number: a choice is not scored by a part.
std::vector<chat::loglikelihood> choices_of(const json::value& root) {
  std::vector<chat::loglikelihood> choices;
  for (const auto& one : optional_list(root, "choices")) {
    double number = 0;
    const auto* sum = one.find("sum_logprob");
    const auto* read = sum != nullptr ? sum->as_double(number) : nullptr;
    if (read == nullptr) return {};
    const auto* greedy = one.find("is_greedy");
    const auto* flag = greedy != nullptr ? greedy->if_bool() : nullptr;
    choices.push_back({.sum_logprob = *read,
                       .is_greedy = flag != nullptr ? std::optional(*flag) : std::nullopt,
                       .tokens = count_of(one, "tokens").value_or(0)});
  }
  return choices;
}

void read_later_fields(const json::value& root, chat::reply& into) {
  into.stop_string = optional_text_of(root, "stop_string");
  into.refusal = optional_text_of(root, "refusal");
  into.damage = damage_of(root);
  into.choices = choices_of(root);
  for (const auto& one : optional_list(root, "thinking")) {
    into.thinking.push_back({.text = optional_text_of(one, "text"),
                             .signature = optional_text_of(one, "signature"),
                             .redacted = optional_text_of(one, "redacted"),
                             .id = optional_text_of(one, "id")});
  }
  for (const auto& one : optional_list(root, "logprobs")) {
    auto& token = into.logprobs.emplace_back();
    static_cast<chat::token_choice&>(token) = token_of(one);
    for (const auto& other : optional_list(one, "top")) token.top.push_back(token_of(other));
  }
}

/// Reads members and remembers whether one was missing or of another kind.
class reader {
 public:
  std::string text(const json::value& from, std::string_view key) {
    const auto* found = from.find(key);
    const auto* value = found != nullptr ? found->if_string() : nullptr;
    whole_ = whole_ && value != nullptr;
    return value != nullptr ? *value : std::string();
  }
  const json::array& list(const json::value& from, std::string_view key) {
    static const json::array none;
    const auto* found = from.find(key);
    const auto* value = found != nullptr ? found->if_array() : nullptr;
    whole_ = whole_ && value != nullptr;
    return value != nullptr ? *value : none;
  }
  const json::value& object(const json::value& from, std::string_view key) {
    static const json::value none;
    const auto* found = from.find(key);
    const bool good = found != nullptr && found->if_object() != nullptr;
    whole_ = whole_ && good;
    return good ? *found : none;
  }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  bool whole_ = true;
};

}  // namespace

std::string encode_reply(const chat::reply& reply) {
  json::writer out;
  out.begin_object().key("text").string(reply.text).key("reasoning").string(reply.reasoning);
  out.key("calls").begin_array();
  for (const auto& call : reply.calls) {
    out.begin_object().key("id").string(call.id).key("name").string(call.name);
    out.key("arguments").string(call.arguments).end_object();
  }
  out.end_array().key("finish").string(chat::name(reply.finish)).key("finish_raw").string(reply.finish_raw);
  out.key("model").string(reply.model).key("usage").begin_object();
  count(out, "prompt_tokens", reply.usage.prompt_tokens);
  count(out, "cached_tokens", reply.usage.cached_tokens);
  count(out, "completion_tokens", reply.usage.completion_tokens);
  count(out, "reasoning_tokens", reply.usage.reasoning_tokens);
  count(out, "cache_write_tokens", reply.usage.cache_write_tokens);
  out.end_object().key("timing").begin_object();
  span(out, "first_token_ns", reply.timing.first_token);
  span(out, "total_ns", reply.timing.total);
  out.end_object().key("dropped").begin_array();
  for (const auto& field : reply.dropped) out.string(field);
  out.end_array();
  optional_text(out, "stop_string", reply.stop_string);
  optional_text(out, "refusal", reply.refusal);
  put_thinking(out, reply.thinking);
  put_logprobs(out, reply.logprobs);
  put_damage(out, reply.damage);
  put_choices(out, reply.choices);
  out.end_object();
  return out.take();
}

result<chat::reply> decode_reply(std::string_view text) {
  const auto parsed = json::parse(text);
  if (!parsed) return parsed.error();
  const auto& root = *parsed;
  reader read;
  chat::reply out;
  out.text = read.text(root, "text");
  out.reasoning = read.text(root, "reasoning");
  for (const auto& call : read.list(root, "calls")) {
    out.calls.push_back({read.text(call, "id"), read.text(call, "name"), read.text(call, "arguments")});
  }
  const auto finish = finish_from(read.text(root, "finish"));
  out.finish = finish.value_or(chat::finish_reason::other);
  out.finish_raw = read.text(root, "finish_raw");
  out.model = read.text(root, "model");
  const auto& usage = read.object(root, "usage");
  out.usage.prompt_tokens = count_of(usage, "prompt_tokens");
  out.usage.cached_tokens = count_of(usage, "cached_tokens");
  out.usage.completion_tokens = count_of(usage, "completion_tokens");
  out.usage.reasoning_tokens = count_of(usage, "reasoning_tokens");
  out.usage.cache_write_tokens = count_of(usage, "cache_write_tokens");
  const auto& timing = read.object(root, "timing");
  out.timing.first_token = span_of(timing, "first_token_ns");
  out.timing.total = span_of(timing, "total_ns");
  for (const auto& field : read.list(root, "dropped")) {
    if (const auto* name = field.if_string()) out.dropped.push_back(*name);
  }
  read_later_fields(root, out);
  if (!read.whole() || !finish) return fail(errc::bad_reply, stage::store, "a field of the reply is missing");
  return out;
}

std::string reply_checksum(std::string_view item_key, std::string_view cache_key, std::string_view body) {
  return sha256().piece(item_key).piece(cache_key).piece(body).hex();
}

std::string verdict_checksum(std::string_view item_key, std::string_view cache_key,
                             const score::verdict& verdict) {
  std::string value;
  json::append_number(value, verdict.value);
  return sha256()
      .piece(item_key)
      .piece(cache_key)
      .piece(verdict.scored ? value : "unscored")
      .piece(verdict.extracted)
      .piece(verdict.reason)
      .hex();
}

}  // namespace evalcore::run
