#include "backend/probe_judges.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

namespace evalcore::backend {
namespace {

using found = ability;

constexpr std::size_t shown_words = 200;
constexpr std::size_t shown_models = 3;
constexpr std::string_view no_temperature = "the request has no place for a temperature";

verdict yes(std::string why) { return {found::yes, std::move(why)}; }
verdict no(std::string why) { return {found::no, std::move(why)}; }
verdict unknown(std::string why) { return {found::unknown, std::move(why)}; }

/// A refusal is an answer to the question; any other failure leaves it open.
verdict of_failure(const error& why) {
  auto words = why.message;
  if (!why.backend_words.empty() && words.find(why.backend_words) == std::string::npos) {
    words += ": " + why.backend_words;
  }
  if (words.size() > shown_words) words = words.substr(0, shown_words) + "…";
  if (why.code == errc::unsupported) return no(std::move(words));
  if (why.code == errc::invalid_request) return no("refused: " + words);
  return unknown("asked in vain: " + words);
}

template <class T>
const T& held(const answer& from) {
  return std::get<T>(*from);
}

const chat::reply& reply_in(const answer& from) { return held<chat::reply>(from); }

const answer* first_failure(std::span<const answer> got) {
  const auto at = std::ranges::find_if(got, [](const answer& one) { return !one; });
  return at == got.end() ? nullptr : &*at;
}

bool dropped(const chat::reply& reply, std::string_view field) {
  return std::ranges::find(reply.dropped, field) != reply.dropped.end();
}

verdict left_out(const wire::dialect& ways, std::string_view field) {
  const bool by_server = ways.ignores_field(field) ||
                         std::ranges::find(ways.messages_ignores, field) != ways.messages_ignores.end();
  return no(by_server ? "known of this kind of server: it drops the field " + std::string(field)
                      : "the API has no field for " + std::string(field));
}

bool is_empty(const chat::reply& reply) {
  return reply.text.empty() && reply.reasoning.empty() && reply.calls.empty();
}

bool same_answer(const chat::reply& one, const chat::reply& other) {
  return one.text == other.text && one.reasoning == other.reasoning;
}

bool cut_off(const chat::reply& reply) { return reply.finish == chat::finish_reason::length; }

std::string quoted(const std::string& word) { return '"' + word + '"'; }

std::string count(std::uint64_t number, const char* of) { return std::to_string(number) + " " + of; }

/// The greatest difference of two answers' logprobs; nothing when they are not of the same tokens.
std::optional<double> distance(const chat::reply& one, const chat::reply& other) {
  if (one.logprobs.size() != other.logprobs.size()) return std::nullopt;
  double most = 0;
  for (std::size_t i = 0; i < one.logprobs.size(); ++i) {
    const auto& left = one.logprobs[i];
    const auto& right = other.logprobs[i];
    if (left.token != right.token || left.logprob.has_value() != right.logprob.has_value())
      return std::nullopt;
    if (left.logprob) most = std::max(most, std::abs(*left.logprob - *right.logprob));
  }
  return most;
}

/// In the two digits that say how much it is.
std::string rounded(double number) {
  std::array<char, 32> text{};
  auto* end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 2).ptr;
  return {text.data(), end};
}

/// A dialect, other than the one in use, whose server all models are said to belong to.
std::string told_by_owner(const std::vector<listed_model>& models, const wire::dialect& in_use) {
  if (models.empty()) return {};
  const auto& owner = models.front().owned_by;
  const auto* ways = wire::dialect_of_owner(owner);
  const bool of_all =
      std::ranges::all_of(models, [&](const listed_model& one) { return one.owned_by == owner; });
  return ways != nullptr && of_all && owner != in_use.owned_by ? std::string(ways->name) : std::string();
}

/// Where two answers were given: both, and the second against the first.
struct circumstances {
  std::string both;
  std::string second;
};

/// Whether two answers are the same, by their logprobs where the first has them.
verdict compare(const chat::reply& one, const chat::reply& other, const circumstances& where) {
  if (is_empty(one) && is_empty(other)) return unknown("both answers were empty");
  if (!same_answer(one, other)) return no("another text " + where.second);
  const auto same = "the same text " + where.both;
  if (one.logprobs.empty()) return yes(same + ", without logprobs to compare");
  const auto apart = distance(one, other);
  if (!apart) return no(same + ", but of other tokens");
  if (*apart == 0) return yes(same + ", and the same logprobs");
  return no(same + ", but logprobs differ by up to " + rounded(*apart));
}

/// The plain answer, with logprobs where they are given.
const chat::reply& before(const probe_state& state) { return state.scored ? *state.scored : *state.plain; }

std::string with_switch(std::string text, const wire::dialect& ways) {
  if (ways.determinism.empty()) return text;
  return text + "; the server's switch to that is " + std::string(ways.determinism);
}

}  // namespace

std::optional<std::string> stop_string_in(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (const char letter : text.substr(std::min<std::size_t>(text.size(), 1))) {
    if (letters.find(letter) != std::string_view::npos && text.find(letter) > 0)
      return std::string(1, letter);
  }
  return std::nullopt;
}

bool nobody_there(const error& failure) noexcept {
  if (failure.http_status) return false;
  return failure.code == errc::transport || failure.code == errc::timeout || failure.code == errc::closed ||
         failure.code == errc::backend_fault;
}

verdict judge_models(probe_state& state, std::span<const answer> got) {
  if (!got[0]) return of_failure(got[0].error());
  const auto& offered = held<std::vector<listed_model>>(got[0]);
  state.report.looks_like = told_by_owner(offered, state.ways);
  std::string names;
  for (const auto& one : offered) {
    auto& models = state.report.models;
    if (models.size() < shown_models) names += (models.empty() ? "" : ", ") + one.id;
    models.push_back(one.id);
    const bool is_ours = one.id == state.report.about.model;
    if (is_ours && !state.report.about.context_per_slot) state.report.about.context_per_slot = one.context;
  }
  const auto listed = state.report.models.size();
  if (listed == 0) return no("the list is empty");
  return yes(count(listed, "listed: ") + names + (listed > shown_models ? ", …" : ""));
}

verdict judge_chat(probe_state& state, std::span<const answer> got) {
  state.again = got[1];
  if (!got[0]) return of_failure(got[0].error());
  state.plain = reply_in(got[0]);
  return yes("a plain request is answered");
}

verdict judge_streaming(probe_state& state, std::span<const answer> /*got*/) {
  if (state.plain->timing.first_token) return yes("the first token came before the end");
  if (is_empty(*state.plain)) return unknown("the answer was empty");
  return no("the answer came as a whole");
}

verdict judge_stream_end(probe_state& state, std::span<const answer> /*got*/) {
  if (!state.plain->timing.first_token) return unknown("no answer was streamed");
  const auto& said = state.plain->finish_raw;
  if (!said.empty()) return yes("a finish reason (" + said + ") closes the stream");
  return no("the stream closes without a finish reason; only its last event tells that it is whole");
}

verdict judge_stream_usage(probe_state& state, std::span<const answer> /*got*/) {
  if (!state.plain->timing.first_token) return unknown("no answer was streamed");
  const auto& usage = state.plain->usage;
  if (usage.prompt_tokens && usage.completion_tokens) {
    return yes(count(*usage.prompt_tokens, "prompt tokens, ") +
               count(*usage.completion_tokens, "completion tokens"));
  }
  return no("a streamed answer does not say how many tokens it took");
}

verdict judge_cut(probe_state& state, std::span<const answer> /*got*/) {
  const auto& reply = *state.plain;
  if (cut_off(reply)) return yes("an answer that max_tokens cut ends with " + quoted(reply.finish_raw));
  const auto& tokens = reply.usage.completion_tokens;
  if (!tokens) return unknown("the answer does not say how many tokens it took");
  if (*tokens < plain_tokens) return unknown("the answer ended before max_tokens");
  return no("an answer of all the " + count(*tokens, "tokens that were asked for ends with ") +
            quoted(reply.finish_raw) + ": cut answers are taken for whole");
}

verdict judge_repeat(probe_state& state, std::span<const answer> /*got*/) {
  if (!*state.again) return of_failure(state.again->error());
  const auto& again = reply_in(*state.again);
  if (is_empty(*state.plain) && is_empty(again)) return unknown("both answers were empty");
  if (dropped(again, "temperature")) return unknown(std::string(no_temperature));
  return same_answer(*state.plain, again) ? yes("the same answer twice at temperature 0")
                                          : no("two answers at temperature 0 differ");
}

verdict judge_logprobs(probe_state& state, std::span<const answer> got) {
  if (!got[0]) return of_failure(got[0].error());
  const auto& reply = reply_in(got[0]);
  if (dropped(reply, "logprobs")) return left_out(state.ways, "logprobs");
  if (reply.logprobs.empty())
    return is_empty(reply) ? unknown("the answer was empty") : no("the answer has none");
  state.scored = reply;
  return yes("logprobs of " + count(reply.logprobs.size(), "tokens"));
}

verdict judge_batch(probe_state& state, std::span<const answer> got) {
  if (const auto* failed = first_failure(got)) return unknown(of_failure(failed->error()).evidence);
  auto where = "alone and beside " + count(got.size() - 1, "others");
  if (state.report.about.slots == 1U) where += " (which wait: it computes one request at a time)";
  auto out = compare(before(state), reply_in(got[0]), {where, "beside other requests than alone"});
  if (out.found != found::unknown) out.evidence = with_switch(std::move(out.evidence), state.ways);
  return out;
}

verdict judge_cached(probe_state& state, std::span<const answer> got) {
  if (const auto* failed = first_failure(got)) return unknown(of_failure(failed->error()).evidence);
  state.cold = reply_in(got[0]);
  state.warm = reply_in(got[1]);
  const auto& usage = reply_in(got[1]).usage;
  if (!usage.cached_tokens) return no("the answers do not tell");
  const auto of = usage.prompt_tokens ? " of " + count(*usage.prompt_tokens, "prompt tokens") : std::string();
  const auto words = std::to_string(*usage.cached_tokens) + of + " cached on a repeat";
  return *usage.cached_tokens > 0 ? yes(words) : no(words + ": the counter does not move");
}

verdict judge_cache(probe_state& state, std::span<const answer> /*got*/) {
  if (!state.warm) return unknown("not asked: no prompt was asked twice to see it cached");
  const auto& cold = state.cold->usage.cached_tokens;
  const auto& warm = state.warm->usage.cached_tokens;
  if (!cold || !warm) return unknown("whether the second answer's prompt came from the cache is not told");
  if (*warm <= *cold)
    return unknown("the cache gave the second answer no more than the first, so nothing shows");
  const auto hits = "with " + std::to_string(*warm) + " prompt tokens cached ";
  return compare(*state.cold, *state.warm,
                 {hits + "and with " + std::to_string(*cold), hits + "than with " + std::to_string(*cold)});
}

verdict judge_after_stop(probe_state& state, std::span<const answer> got) {
  if (const auto* failed = first_failure(got)) return unknown(of_failure(failed->error()).evidence);
  const auto said_yes = [&](std::string_view name) {
    const auto* one = state.report.find(name);
    return one != nullptr && one->answer == found::yes;
  };
  if (!said_yes("stop")) return unknown("stop strings are not known to end its answers");
  if (!said_yes("greedy_repeat")) {
    return unknown("the same request is not known to give the same answer twice, so nothing shows");
  }
  return compare(
      before(state), reply_in(got.back()),
      {"before and after a batch that a stop string ended", "after a batch that a stop string ended"});
}

verdict judge_stop(probe_state& state, std::span<const answer> got) {
  if (!got[0]) return of_failure(got[0].error());
  const auto& reply = reply_in(got[0]);
  if (dropped(reply, "stop")) return left_out(state.ways, "stop");
  const auto& whole = state.plain->text;
  const auto stop = *stop_string_in(whole);
  const auto before = whole.substr(0, whole.find(stop));
  if (reply.text == before) return yes("the answer ends where \"" + stop + "\" would stand");
  if (reply.text == before + stop) return no("the answer ends behind the stop string and not before it");
  if (reply.text == whole) return no("the answer goes on behind the stop string");
  return unknown("the answer differs from the one without a stop string");
}

verdict judge_seed(probe_state& state, std::span<const answer> got) {
  if (const auto* failed = first_failure(got)) return of_failure(failed->error());
  const auto& one = reply_in(got[0]);
  if (dropped(one, "seed")) return left_out(state.ways, "seed");
  if (dropped(one, "temperature")) return unknown(std::string(no_temperature));
  if (!same_answer(one, reply_in(got[1]))) return no("one seed gives two answers at temperature 1");
  if (same_answer(one, reply_in(got[2]))) {
    return unknown("two seeds give the same answer at temperature 1, so nothing shows");
  }
  return yes("the same seed gives the same answer at temperature 1, another seed another");
}

verdict judge_n(probe_state& state, std::span<const answer> got) {
  if (!got[0] && got[0].error().code == errc::unsupported) return no("the API has no field for n");
  if (!got[0]) return of_failure(got[0].error());
  const auto& raw = held<raw_answer>(got[0]);
  if (raw.status != 200) return of_failure(wire::classify_openai_error(raw.status, raw.body, state.ways));
  const auto body = json::parse(raw.body);
  const auto* choices = body ? body->find("choices") : nullptr;
  if (choices == nullptr || choices->if_array() == nullptr) return unknown("an answer without choices in it");
  state.whole = raw.body;
  const auto answers = choices->if_array()->size();
  return answers == 2 ? yes("2 answers for n = 2") : no(count(answers, "answers for n = 2"));
}

verdict judge_reasoning(probe_state& state, std::span<const answer> /*got*/) {
  const auto body = state.whole ? json::parse(*state.whole) : result<json::value>(json::value());
  const auto* choices = body ? body->find("choices") : nullptr;
  if (choices != nullptr && choices->if_array() != nullptr && !choices->if_array()->empty()) {
    const auto* message = choices->if_array()->front().find("message");
    for (const char* field : {"reasoning_content", "reasoning", "thinking"}) {
      const auto* text = message == nullptr ? nullptr : message->find(field);
      if (text == nullptr || text->if_string() == nullptr || text->if_string()->empty()) continue;
      return yes("in the field " + std::string(field));
    }
  }
  if (!state.plain->reasoning.empty()) return yes("apart from the text");
  return unknown("no answer held any");
}

verdict judge_tools(probe_state& /*state*/, std::span<const answer> got) {
  if (got[0])
    return held<bool>(got[0]) ? yes("a declared tool changes the prompt")
                              : no("a declared tool changes no prompt");
  const auto& why = got[0].error();
  return why.code == errc::unsupported ? unknown(why.message) : of_failure(why);
}

verdict judge_tool_choice(probe_state& /*state*/, std::span<const answer> got) {
  if (const auto* failed = first_failure(got)) return of_failure(failed->error());
  const auto& required = reply_in(got[0]);
  const auto& none = reply_in(got[1]);
  if (!none.calls.empty()) return no("a call though none was allowed");
  if (!required.calls.empty()) return yes("a call when one is required, none when none is allowed");
  if (cut_off(required)) return unknown("the answer to a required call was cut off before any call");
  return no("no call though one was required");
}

verdict judge_format(probe_state& state, std::span<const answer> got) {
  if (!got[0]) return of_failure(got[0].error());
  const auto& reply = reply_in(got[0]);
  if (dropped(reply, "response_format")) return left_out(state.ways, "response_format");
  const auto value = json::parse(reply.text);
  const auto* number = value ? value->find("number") : nullptr;
  if (number != nullptr && number->if_int() != nullptr) return yes("the answer follows the schema");
  if (cut_off(reply)) return unknown("the answer was cut off before it was whole");
  return no("the answer does not follow the schema");
}

verdict judge_prompt_logprobs_check(probe_state& /*state*/, std::span<const answer> got) {
  if (!got[0]) return of_failure(got[0].error());
  return yes("an echo brings the logprobs of all prompt tokens, and they tell two continuations apart");
}

}  // namespace evalcore::backend
