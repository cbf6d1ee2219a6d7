#include "reply.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>

#include "error.hpp"

namespace evalcore::capi {
namespace {

std::int32_t number_of(chat::finish_reason why) {
  switch (why) {
    case chat::finish_reason::stop:
      return EVC_FINISH_STOP;
    case chat::finish_reason::length:
      return EVC_FINISH_LENGTH;
    case chat::finish_reason::tool_calls:
      return EVC_FINISH_TOOL_CALLS;
    case chat::finish_reason::content_filter:
      return EVC_FINISH_CONTENT_FILTER;
    case chat::finish_reason::other:
      break;
  }
  return EVC_FINISH_OTHER;
}

std::optional<std::uint64_t> count_of(const chat::usage& usage, std::int32_t token_class) {
  switch (token_class) {
    case EVC_TOKENS_PROMPT:
      return usage.prompt_tokens;
    case EVC_TOKENS_CACHED:
      return usage.cached_tokens;
    case EVC_TOKENS_COMPLETION:
      return usage.completion_tokens;
    case EVC_TOKENS_REASONING:
      return usage.reasoning_tokens;
    case EVC_TOKENS_CACHE_WRITE:
      return usage.cache_write_tokens;
    default:
      return std::nullopt;
  }
}

json::value seconds_or_null(const std::optional<duration>& span) {
  return span ? json::value(seconds(*span)) : json::value();
}

json::value calls_of(const chat::reply& reply) {
  json::array calls;
  for (const auto& call : reply.calls) {
    calls.push_back(json::object{
        {"id", call.id},
        {"type", "function"},
        {"function", json::object{{"name", call.name}, {"arguments", call.arguments}}},
    });
  }
  return calls;
}

json::object token_of(const chat::token_choice& one) {
  json::object told{{"token", one.token}, {"logprob", json::or_null(one.logprob)}};
  if (one.bytes) {
    json::array bytes;
    for (const char byte : *one.bytes) bytes.push_back(std::int64_t{static_cast<unsigned char>(byte)});
    told.emplace_back("bytes", std::move(bytes));
  }
  return told;
}

json::value logprobs_of(const chat::reply& reply) {
  json::array tokens;
  for (const auto& one : reply.logprobs) {
    auto told = token_of(one);
    json::array top;
    for (const auto& other : one.top) top.push_back(token_of(other));
    told.emplace_back("top", std::move(top));
    tokens.push_back(std::move(told));
  }
  return tokens;
}

json::value scores_of(const std::vector<chat::loglikelihood>& all) {
  json::array scores;
  for (const auto& one : all) {
    scores.push_back(json::object{{"sum_logprob", one.sum_logprob},
                                  {"is_greedy", json::or_null(one.is_greedy)},
                                  {"tokens", one.tokens}});
  }
  return scores;
}

json::value whole(const chat::reply& reply) {
  json::array dropped;
  for (const auto& field : reply.dropped) dropped.emplace_back(field);
  json::object told{
      {"text", reply.text},
      {"reasoning", reply.reasoning},
      {"tool_calls", calls_of(reply)},
      {"finish_reason", chat::name(reply.finish)},
      {"finish_raw", reply.finish_raw},
      {"model", reply.model},
      {"refusal", reply.refusal.empty() ? json::value() : json::value(reply.refusal)},
      {"usage", json::object{{"prompt_tokens", json::or_null(reply.usage.prompt_tokens)},
                             {"cached_tokens", json::or_null(reply.usage.cached_tokens)},
                             {"completion_tokens", json::or_null(reply.usage.completion_tokens)},
                             {"reasoning_tokens", json::or_null(reply.usage.reasoning_tokens)},
                             {"cache_write_tokens", json::or_null(reply.usage.cache_write_tokens)}}},
      {"timings", json::object{{"first_token_s", seconds_or_null(reply.timing.first_token)},
                               {"total_s", seconds_or_null(reply.timing.total)}}},
      {"dropped", std::move(dropped)},
  };
  if (!reply.logprobs.empty()) told.emplace_back("logprobs", logprobs_of(reply));
  if (!reply.choices.empty()) told.emplace_back("scores", scores_of(reply.choices));
  if (!reply.metadata.empty()) told.emplace_back("metadata", reply.metadata);
  return told;
}

/// What `make` gives, made once.
template <class Make>
evc_str written(std::optional<std::string>& text, Make&& make) {
  if (!text) text = json::to_text(make());
  return view(*text);
}

double seconds_or_unknown(const std::optional<duration>& span) { return span ? seconds(*span) : -1; }

}  // namespace
}  // namespace evalcore::capi

namespace capi = evalcore::capi;

evc_str evc_reply_text(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, evc_str{}, [](auto& r) { return capi::view(r.what.text); });
}
evc_str evc_reply_reasoning(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, evc_str{}, [](auto& r) { return capi::view(r.what.reasoning); });
}
evc_str evc_reply_tool_calls(const evc_reply* reply) EVC_NOEXCEPT {
  constexpr std::string_view none = "[]";
  return capi::look_at(reply, capi::view(none), [](auto& r) {
    return capi::written(r.calls_text, [&] { return capi::calls_of(r.what); });
  });
}
int32_t evc_reply_finish_reason(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, std::int32_t{EVC_FINISH_OTHER},
                       [](auto& r) { return capi::number_of(r.what.finish); });
}
int64_t evc_reply_tokens(const evc_reply* reply, int32_t token_class) EVC_NOEXCEPT {
  return capi::look_at(reply, std::int64_t{-1}, [&](auto& r) {
    const auto count = capi::count_of(r.what.usage, token_class);
    return count ? static_cast<std::int64_t>(*count) : -1;
  });
}
double evc_reply_first_token_s(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, -1.0,
                       [](auto& r) { return capi::seconds_or_unknown(r.what.timing.first_token); });
}
double evc_reply_total_s(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, -1.0, [](auto& r) { return capi::seconds_or_unknown(r.what.timing.total); });
}
size_t evc_reply_score_count(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, std::size_t{0}, [](auto& r) { return r.what.choices.size(); });
}
double evc_reply_sum_logprob(const evc_reply* reply, size_t continuation) EVC_NOEXCEPT {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  return capi::look_at(reply, none, [&](auto& r) {
    return continuation < r.what.choices.size() ? r.what.choices[continuation].sum_logprob : none;
  });
}
int32_t evc_reply_is_greedy(const evc_reply* reply, size_t continuation) EVC_NOEXCEPT {
  return capi::look_at(reply, std::int32_t{-1}, [&](auto& r) {
    const auto& scores = r.what.choices;
    if (continuation >= scores.size() || !scores[continuation].is_greedy) return -1;
    return *scores[continuation].is_greedy ? 1 : 0;
  });
}
evc_str evc_reply_json(const evc_reply* reply) EVC_NOEXCEPT {
  return capi::look_at(reply, evc_str{}, [](auto& r) {
    return capi::written(r.whole_text, [&] { return capi::whole(r.what); });
  });
}
