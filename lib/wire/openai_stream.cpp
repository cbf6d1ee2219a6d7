#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/sse.hpp>

#include "wire/call_assembler.hpp"
#include "wire/event_feed.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

}  // namespace

struct openai_chat_stream::state {
  state(const dialect& which, std::uint64_t line_limit) : ways(&which), events(line_limit) {}

  const dialect* ways;
  sse_parser events;
  json_reader reader;
  chat::reply reply;
  call_assembler calls;
  std::optional<error> failure;
  bool answered = false;  ///< Choice 0 was there.
  bool done = false;      ///< [DONE] was there.

  [[nodiscard]] result<void> event(const sse_event& one, progress& made);
  [[nodiscard]] result<void> delta(const element& from, progress& made);
  [[nodiscard]] bool proved_end() const {
    return !reply.finish_raw.empty() || (done && ways->done_proves_end);
  }
};

result<void> openai_chat_stream::state::event(const sse_event& one, progress& made) {
  if (done) return {};
  if (one.data.starts_with("[DONE]")) {
    done = true;
    return {};
  }
  const auto root = reader.read(one.data);
  if (one.type == "error") {
    return root ? error_of(std::nullopt, *root) : classify_openai_error(200, one.data, *ways);
  }
  if (!root) return bad("an event of the stream is not JSON");
  if (auto inside = error_inside(*root)) return *std::move(inside);
  const std::string_view model = text_member(*root, "model").value_or("");
  // oMLX keeps the connection alive with chunks of that name.
  if (model == "keepalive") return {};
  if (!model.empty()) reply.model = model;
  read_usage(*root, reply.usage);
  const auto choice = first_choice(*root);
  if (!choice) return {};
  // Gateways put the error of the server behind them here, beside a finish reason.
  if (auto inside = error_inside(*choice)) return *std::move(inside);
  answered = true;
  if (const auto from = member(*choice, "delta")) {
    if (auto taken = delta(*from, made); !taken) return taken;
  }
  read_logprobs(*choice, reply.logprobs);
  read_stop_string(*choice, reply);
  if (auto broken_off = read_finish(*choice, reply)) return *std::move(broken_off);
  return {};
}

result<void> openai_chat_stream::state::delta(const element& from, progress& made) {
  const auto content = content_text(from);
  if (!content) return bad("the content of a chunk is not text");
  const std::string_view reasoning = reasoning_text(from);
  reply.text += *content;
  made.text += *content;
  reply.reasoning += reasoning;
  read_refusal(from, reply);
  if (!content->empty() || !reasoning.empty()) made.content = true;
  const auto list = member(from, "tool_calls");
  if (!list) return {};
  simdjson::dom::array fragments;
  if (list->get_array().get(fragments) != simdjson::SUCCESS) return bad("tool_calls is not a list");
  for (const element fragment : fragments) {
    made.content = true;
    if (auto added = calls.add(fragment); !added) return added;
  }
  return {};
}

openai_chat_stream::openai_chat_stream(const dialect& ways, std::uint64_t line_limit)
    : state_(std::make_unique<state>(ways, line_limit)) {}
openai_chat_stream::~openai_chat_stream() = default;
openai_chat_stream::openai_chat_stream(openai_chat_stream&&) noexcept = default;
openai_chat_stream& openai_chat_stream::operator=(openai_chat_stream&&) noexcept = default;

result<openai_chat_stream::progress> openai_chat_stream::feed(std::string_view piece) {
  return feed_events(*state_, piece);
}

std::uint64_t openai_chat_stream::comments() const noexcept { return state_->events.comments(); }

result<chat::reply> openai_chat_stream::take() {
  state& now = *state_;
  finish_events(now);
  if (now.failure) return *now.failure;
  if (!now.proved_end()) {
    return fail(errc::truncated, stage::body,
                "the stream ended without a finish reason: the connection was cut or the server died");
  }
  if (!now.answered) return bad("the stream ended without an answer in it");
  auto calls = now.calls.take();
  if (!calls) return std::move(calls).error();
  now.reply.calls = *std::move(calls);
  now.reply.damage = now.reader.damage();
  split_reasoning(*now.ways, now.reply);
  return std::move(now.reply);
}

}  // namespace evalcore::wire
