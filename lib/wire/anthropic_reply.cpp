#include <algorithm>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "wire/anthropic_parts.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

chat::finish_reason finish_from(std::string_view word) {
  using enum chat::finish_reason;
  if (word == "end_turn" || word == "stop_sequence") return stop;
  if (word == "max_tokens" || word == "model_context_window_exceeded") return length;
  if (word == "tool_use") return tool_calls;
  if (word == "refusal") return content_filter;
  return other;
}

void largest(std::optional<std::uint64_t>& held, std::optional<std::uint64_t> newer) {
  if (newer) held = std::max(held.value_or(0), *newer);
}

std::string refusal_text(const element& details) {
  const std::string_view why = text_member(details, "explanation").value_or("");
  return std::string(why.empty() ? text_member(details, "category").value_or("") : why);
}

}  // namespace

void message_usage::read(const element& holder) {
  const auto usage = member(holder, "usage");
  if (!usage) return;
  largest(input_, count_member(*usage, "input_tokens"));
  largest(cache_read_, count_member(*usage, "cache_read_input_tokens"));
  largest(cache_creation_, count_member(*usage, "cache_creation_input_tokens"));
  largest(output_, count_member(*usage, "output_tokens"));
  if (const auto details = member(*usage, "output_tokens_details")) {
    largest(thinking_, count_member(*details, "thinking_tokens"));
  }
}

chat::usage message_usage::total(const dialect& ways) const {
  chat::usage sum;
  sum.prompt_tokens = input_;
  if (input_ && !ways.messages_count_cached) {
    sum.prompt_tokens = *input_ + cache_read_.value_or(0) + cache_creation_.value_or(0);
  }
  sum.cached_tokens = cache_read_;
  sum.cache_write_tokens = cache_creation_;
  sum.completion_tokens = output_;
  sum.reasoning_tokens = thinking_;
  return sum;
}

std::optional<error> read_message_end(const element& holder, chat::reply& into) {
  const auto reason = text_member(holder, "stop_reason");
  if (reason && broke_off(*reason)) {
    return fail(errc::backend_fault, stage::body,
                "the backend broke the answer off (stop reason \"" + std::string(*reason) + "\")");
  }
  if (reason && into.finish_raw.empty()) {
    into.finish_raw = *reason;
    into.finish = finish_from(*reason);
  }
  // llama.cpp names the string and yet says "end_turn".
  if (const auto text = text_member(holder, "stop_sequence")) into.stop_string = *text;
  if (const auto details = member(holder, "stop_details")) into.refusal = refusal_text(*details);
  return std::nullopt;
}

result<chat::reply> decode_anthropic_message(std::string_view body, const dialect& ways) {
  json_reader reader;
  const auto root = reader.read(body);
  if (!root) {
    return bad(body.find_first_not_of(" \t\r\n") == std::string_view::npos ? "the answer is empty"
                                                                           : "the answer is not JSON");
  }
  if (auto failure = error_inside(*root)) return *std::move(failure);
  // An error by its type stays one without the object that explains it.
  if (text_member(*root, "type") == "error") return error_of(std::nullopt, *root);
  const auto content = member(*root, "content");
  simdjson::dom::array list;
  if (!content || content->get_array().get(list) != simdjson::SUCCESS) {
    return bad("the answer is no message with a list of content");
  }
  block_assembler blocks;
  stream_progress unseen;
  for (const element block : list) {
    if (auto taken = blocks.start(std::nullopt, block, unseen); !taken) return std::move(taken).error();
  }
  chat::reply reply;
  blocks.finish(reply);
  if (auto failure = read_message_end(*root, reply)) return *std::move(failure);
  reply.model = text_member(*root, "model").value_or("");
  message_usage usage;
  usage.read(*root);
  reply.usage = usage.total(ways);
  reply.damage = reader.damage();
  split_reasoning(ways, reply);
  return reply;
}

error classify_anthropic_error(int status, std::string_view body, const dialect& ways) {
  // The two shapes differ by an envelope that the reader of errors looks through.
  return classify_openai_error(status, body, ways);
}

}  // namespace evalcore::wire
