#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/sse.hpp>

#include "wire/anthropic_parts.hpp"
#include "wire/event_feed.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

std::optional<std::int64_t> index_of(const element& root) {
  const auto given = member(root, "index");
  std::int64_t index = 0;
  if (!given || given->get_int64().get(index) != simdjson::SUCCESS) return std::nullopt;
  return index;
}

}  // namespace

struct anthropic_messages_stream::state {
  explicit state(const dialect& which) : ways(&which) {}

  const dialect* ways;
  sse_parser events;
  json_reader reader;
  chat::reply reply;
  block_assembler blocks;
  message_usage usage;
  std::optional<error> failure;
  std::uint64_t pings = 0;
  bool begun = false;    ///< message_start was there.
  bool stopped = false;  ///< message_stop was there.

  [[nodiscard]] result<void> event(const sse_event& one, progress& made);
  [[nodiscard]] result<void> take_over(std::string_view type, const element& root, progress& made);
};

result<void> anthropic_messages_stream::state::event(const sse_event& one, progress& made) {
  // OpenAI's end, which some servers add.
  if (stopped || one.data.starts_with("[DONE]")) return {};
  const auto root = reader.read(one.data);
  if (one.type == "error") {
    return root ? error_of(std::nullopt, *root) : classify_anthropic_error(200, one.data, *ways);
  }
  if (!root) return bad("an event of the stream is not JSON");
  if (auto inside = error_inside(*root)) return *std::move(inside);
  return take_over(text_member(*root, "type").value_or(one.type), *root, made);
}

result<void> anthropic_messages_stream::state::take_over(std::string_view type, const element& root,
                                                         progress& made) {
  if (type == "content_block_delta") {
    const auto delta = member(root, "delta");
    return delta ? blocks.add(index_of(root), *delta, made) : bad("a delta of the stream is missing");
  }
  if (type == "content_block_start") {
    const auto block = member(root, "content_block");
    return block ? blocks.start(index_of(root), *block, made) : bad("a block of the stream is missing");
  }
  if (type == "message_start") {
    begun = true;
    if (const auto message = member(root, "message")) {
      reply.model = text_member(*message, "model").value_or("");
      usage.read(*message);
    }
  } else if (type == "message_delta") {
    const auto delta = member(root, "delta");
    if (auto broken_off = delta ? read_message_end(*delta, reply) : std::nullopt) {
      return *std::move(broken_off);
    }
    usage.read(root);
  } else if (type == "message_stop") {
    stopped = true;
  } else if (type == "ping") {
    ++pings;
  } else if (type == "error") {
    return error_of(std::nullopt, root);
  }
  return {};
}

anthropic_messages_stream::anthropic_messages_stream(const dialect& ways)
    : state_(std::make_unique<state>(ways)) {}
anthropic_messages_stream::~anthropic_messages_stream() = default;
anthropic_messages_stream::anthropic_messages_stream(anthropic_messages_stream&&) noexcept = default;
anthropic_messages_stream& anthropic_messages_stream::operator=(anthropic_messages_stream&&) noexcept =
    default;

result<anthropic_messages_stream::progress> anthropic_messages_stream::feed(std::string_view piece) {
  return feed_events(*state_, piece);
}

std::uint64_t anthropic_messages_stream::comments() const noexcept {
  return state_->events.comments() + state_->pings;
}

result<chat::reply> anthropic_messages_stream::take() {
  state& now = *state_;
  finish_events(now);
  if (now.failure) return *now.failure;
  if (!now.stopped) {
    return fail(errc::truncated, stage::body,
                "the stream ended without message_stop: the connection was cut or the server died");
  }
  if (!now.begun) return bad("the stream ended without a message in it");
  now.blocks.finish(now.reply);
  now.reply.usage = now.usage.total(*now.ways);
  now.reply.damage = now.reader.damage();
  split_reasoning(*now.ways, now.reply);
  return std::move(now.reply);
}

}  // namespace evalcore::wire
