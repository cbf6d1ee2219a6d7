#include <evalcore/run/episode_trace.hpp>

#include <utility>

#include <evalcore/base/json.hpp>

#include "run/episode_keys.hpp"
#include "run/episode_store.hpp"

namespace evalcore::run {
namespace {

void count(json::writer& out, std::string_view key, const std::optional<std::uint64_t>& number) {
  out.key(key);
  if (number) {
    out.number(*number);
  } else {
    out.null();
  }
}

void span(json::writer& out, std::string_view key, const std::optional<duration>& time) {
  out.key(key);
  if (time) {
    out.number(seconds(*time));
  } else {
    out.null();
  }
}

void begin_line(json::writer& out, const episode_record& of) {
  out.begin_object().key("episode").string(of.id).key("epoch").number(std::uint64_t{of.epoch});
}

void put_reply(json::writer& out, const chat::reply& reply) {
  out.key("reply").begin_object().key("text").string(reply.text).key("reasoning").string(reply.reasoning);
  out.key("calls").begin_array();
  for (const auto& call : reply.calls) {
    out.begin_object().key("id").string(call.id).key("name").string(call.name);
    out.key("arguments").string(call.arguments).end_object();
  }
  out.end_array()
      .key("finish")
      .string(chat::name(reply.finish))
      .key("model")
      .string(reply.model)
      .end_object();
}

std::string line_of(const episode_record& of, const traced_turn& turn) {
  json::writer out;
  begin_line(out, of);
  out.key("turn").number(std::uint64_t{turn.record.turn}).key("request").raw(turn.record.added);
  if (turn.reply) {
    put_reply(out, *turn.reply);
  } else {
    out.key("reply").null();
  }
  if (!turn.reply && turn.failure) {
    out.key("error").begin_object().key("code").string(name(turn.failure->code));
    out.key("message").string(turn.failure->message).end_object();
  }
  const auto& usage = turn.reply ? turn.reply->usage : chat::usage{};
  out.key("usage").begin_object();
  count(out, "prompt_tokens", usage.prompt_tokens);
  count(out, "cached_tokens", usage.cached_tokens);
  count(out, "completion_tokens", usage.completion_tokens);
  count(out, "reasoning_tokens", usage.reasoning_tokens);
  const auto& timing = turn.reply ? turn.reply->timing : chat::timing{};
  out.end_object().key("timing").begin_object();
  out.key("started_unix_ms").number(turn.started_unix_ms).key("attempts").number(turn.attempts);
  span(out, "first_token_s", timing.first_token);
  span(out, "total_s", timing.total);
  return out.end_object().end_object().take();
}

std::string line_of(const episode_record& of, const stored_end& end, std::size_t turns) {
  json::writer out;
  begin_line(out, of);
  out.key("turns").number(std::uint64_t{turns}).key("end").string(name(end.why)).key("outcome");
  if (end.outcome_json.empty()) {
    out.null();
  } else {
    const auto outcome = json::parse(end.outcome_json);
    out.raw(outcome ? json::to_text(*outcome) : "null");  // Of one line, however the host wrote it.
  }
  return out.end_object().take();
}

}  // namespace

result<void> write_episode_traces(store& from, const std::string& suite, std::ostream& to) {
  auto opened = episode_store::open(from);
  if (!opened) return std::move(opened).error();
  const auto all = opened->all_of(suite_hash_of(suite));
  if (!all) return all.error();
  for (const auto& one : *all) {
    const auto turns = opened->trace_of(one);
    if (!turns) return turns.error();
    for (const auto& turn : *turns) to << line_of(one, turn) << '\n';
    const auto end = opened->end_of(one);
    if (!end) return end.error();
    if (*end) to << line_of(one, **end, turns->size()) << '\n';
  }
  if (!to.flush()) return fail(errc::storage, stage::store, "the traces could not be written; free space?");
  return {};
}

}  // namespace evalcore::run
