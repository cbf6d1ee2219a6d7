#include <evalcore/wire/openai_responses.hpp>

#include "wire/call_assembler.hpp"
#include "wire/openai_parts.hpp"
#include "wire/openai_responses_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

/// The elements of the list `key`; none where it is absent.
result<std::vector<element>> list_of(const element& from, std::string_view key) {
  std::vector<element> elements;
  const auto held = member(from, key);
  if (!held) return elements;
  simdjson::dom::array list;
  if (held->get_array().get(list) != simdjson::SUCCESS) return bad("a part of the response is not a list");
  for (const element one : list) elements.push_back(one);
  return elements;
}

result<void> read_content(const element& from, output_item& into) {
  auto parts = list_of(from, "content");
  if (!parts) return std::move(parts).error();
  for (const element& one : *parts) {
    auto part = read_output_part(one);
    if (!part) return std::move(part).error();
    into.content.emplace(static_cast<std::int64_t>(into.content.size()), *std::move(part));
  }
  return {};
}

result<void> read_summary(const element& from, output_item& into) {
  auto parts = list_of(from, "summary");
  if (!parts) return std::move(parts).error();
  for (const element& one : *parts) {
    into.summary.emplace(static_cast<std::int64_t>(into.summary.size()),
                         text_member(one, "text").value_or(""));
  }
  return {};
}

result<std::vector<output_item>> read_output(const element& response) {
  auto elements = list_of(response, "output");
  if (!elements) return std::move(elements).error();
  std::vector<output_item> items;
  for (const element& one : *elements) {
    auto item = read_output_item(one);
    if (!item) return std::move(item).error();
    items.push_back(*std::move(item));
  }
  return items;
}

std::string reasoning_of(const output_item& item) {
  std::string text;
  for (const auto& [index, part] : item.content) text += part.text;
  if (!text.empty()) return text;
  for (const auto& [index, part] : item.summary) text += (text.empty() ? "" : "\n\n") + part;
  return text;
}

void put_item(output_item item, chat::reply& into) {
  switch (item.what) {
    case output_item::kind::message:
      for (auto& [index, part] : item.content) {
        into.text += part.text;
        into.refusal += part.refusal;
        for (auto& token : part.logprobs) into.logprobs.push_back(std::move(token));
      }
      break;
    case output_item::kind::reasoning: {
      std::string text = reasoning_of(item);
      into.reasoning += text;
      if (!item.id.empty()) {
        into.thinking.push_back({.text = std::move(text),
                                 .signature = std::move(item.encrypted),
                                 .redacted = {},
                                 .id = std::move(item.id)});
      }
      break;
    }
    case output_item::kind::call:
      into.calls.push_back(std::move(item.call));
      break;
    case output_item::kind::unknown:
      break;
  }
}

void read_end(const element& response, std::string_view state, chat::reply& into) {
  using enum chat::finish_reason;
  into.finish_raw = state;
  if (state == "completed") {
    into.finish = into.calls.empty() ? stop : tool_calls;
  } else if (state == "incomplete") {
    const auto details = member(response, "incomplete_details");
    const auto reason = details ? text_member(*details, "reason") : std::nullopt;
    if (reason) into.finish_raw = *reason;
    if (reason == "max_output_tokens") into.finish = length;
    if (reason == "content_filter") into.finish = content_filter;
  }
}

void read_counts(const element& response, chat::usage& into) {
  const auto usage = member(response, "usage");
  if (!usage) return;
  into.prompt_tokens = count_member(*usage, "input_tokens");
  into.completion_tokens = count_member(*usage, "output_tokens");
  if (const auto details = member(*usage, "input_tokens_details")) {
    into.cached_tokens = count_member(*details, "cached_tokens");
    into.cache_write_tokens = count_member(*details, "cache_write_tokens");
  }
  if (const auto details = member(*usage, "output_tokens_details")) {
    into.reasoning_tokens = count_member(*details, "reasoning_tokens");
  }
}

}  // namespace

result<output_item::part> read_output_part(const element& from) {
  output_item::part part;
  const auto text = member(from, "text");
  if (text && !text_of(*text)) return bad("the text of the response is not text");
  part.text = text ? text_of(*text).value_or("") : "";
  part.refusal = text_member(from, "refusal").value_or("");
  read_token_list(from, "logprobs", part.logprobs);
  return part;
}

result<output_item> read_output_item(const element& from) {
  if (!from.is_object()) return bad("an item of the response's output is no object");
  output_item item;
  item.id = text_member(from, "id").value_or("");
  const std::string_view type = text_member(from, "type").value_or("");
  if (type == "message") {
    item.what = output_item::kind::message;
    if (auto read = read_content(from, item); !read) return std::move(read).error();
  } else if (type == "reasoning") {
    item.what = output_item::kind::reasoning;
    if (auto read = read_content(from, item); !read) return std::move(read).error();
    if (auto read = read_summary(from, item); !read) return std::move(read).error();
    item.encrypted = text_member(from, "encrypted_content").value_or("");
  } else if (type == "function_call") {
    item.what = output_item::kind::call;
    auto arguments = arguments_text(from);
    if (!arguments) return std::move(arguments).error();
    item.call = {.id = std::string(text_member(from, "call_id").value_or(item.id)),
                 .name = std::string(text_member(from, "name").value_or("")),
                 .arguments = *std::move(arguments)};
  }
  return item;
}

result<chat::reply> read_response(const element& response, std::string_view state,
                                  std::vector<output_item> streamed, const dialect& ways) {
  if (auto failure = error_inside(response)) return *std::move(failure);
  if (state == "failed" || broke_off(state)) {
    return fail(errc::backend_fault, stage::body,
                "the backend broke the answer off (status \"" + std::string(state) + "\")");
  }
  if (state == "queued" || state == "in_progress") return bad("the response is not finished yet");
  if (state != "completed" && state != "incomplete") return bad("the response does not say how it ended");
  auto items = read_output(response);
  if (!items) return std::move(items).error();
  if (!member(response, "output") && streamed.empty()) {
    return bad("the answer is no response with a list of output");
  }
  if (items->empty()) *items = std::move(streamed);
  for (const auto& one : *items) {
    if (one.what == output_item::kind::call && one.call.name.empty()) {
      return bad("a tool call names no function");
    }
  }
  chat::reply reply;
  for (auto& one : *items) put_item(std::move(one), reply);
  read_end(response, state, reply);
  reply.model = text_member(response, "model").value_or("");
  read_counts(response, reply.usage);
  split_reasoning(ways, reply);
  return reply;
}

result<chat::reply> decode_openai_response(std::string_view body, const dialect& ways) {
  json_reader reader;
  const auto root = reader.read(body);
  if (!root) {
    return bad(body.find_first_not_of(" \t\r\n") == std::string_view::npos ? "the answer is empty"
                                                                           : "the answer is not JSON");
  }
  auto reply = read_response(*root, text_member(*root, "status").value_or(""), {}, ways);
  if (!reply) return reply;
  reply->damage = reader.damage();
  return reply;
}

}  // namespace evalcore::wire
