#include <utility>

#include "wire/anthropic_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

/// The member `text`, "" where it is absent. Nullopt for what is not text.
std::optional<std::string_view> text_in(const element& from) {
  const auto held = member(from, "text");
  return held ? text_of(*held) : "";
}

}  // namespace

block_assembler::block& block_assembler::open(std::optional<std::int64_t> index, kind what) {
  if (index) by_index_[*index] = blocks_.size();
  auto& made = blocks_.emplace_back();
  made.what = what;
  return made;
}

block_assembler::block& block_assembler::held(std::optional<std::int64_t> index, kind otherwise) {
  if (index) {
    const auto found = by_index_.find(*index);
    return found != by_index_.end() ? blocks_[found->second] : open(index, otherwise);
  }
  return blocks_.empty() ? open(index, otherwise) : blocks_.back();
}

result<void> block_assembler::start(std::optional<std::int64_t> index, const element& from,
                                    stream_progress& made) {
  if (!from.is_object()) return bad("a block of the answer's content is no object");
  const std::string_view type = text_member(from, "type").value_or("");
  if (type == "text") {
    const auto text = text_in(from);
    if (!text) return bad("the text of a block is not text");
    auto& one = open(index, kind::text);
    one.text = *text;
    made.text += one.text;
    made.content = made.content || !one.text.empty();
  } else if (type == "thinking" || type == "redacted_thinking") {
    auto& one = open(index, kind::thinking).thinking;
    one.text = text_member(from, "thinking").value_or("");
    one.signature = text_member(from, "signature").value_or("");
    one.redacted = text_member(from, "data").value_or("");
    made.content = made.content || !one.text.empty() || !one.redacted.empty();
  } else if (type == "tool_use") {
    auto& one = open(index, kind::call);
    one.call.id = text_member(from, "id").value_or("");
    one.call.name = text_member(from, "name").value_or("");
    if (one.call.name.empty()) return bad("a tool call names no function");
    made.content = true;
    if (const auto input = member(from, "input")) {
      if (!input->is_object()) return bad("a tool call's input is no object");
      one.given_input = simdjson::minify(*input);
    }
  } else {
    open(index, kind::unknown);
  }
  return {};
}

result<void> block_assembler::add(std::optional<std::int64_t> index, const element& delta,
                                  stream_progress& made) {
  const std::string_view type = text_member(delta, "type").value_or("");
  if (type == "text_delta") {
    const auto text = text_in(delta);
    if (!text) return bad("the text added to a block is not text");
    auto& one = held(index, kind::text);
    if (one.what != kind::text) return bad("text was added to a block that holds none");
    one.text += *text;
    made.text += *text;
    made.content = made.content || !text->empty();
  } else if (type == "thinking_delta") {
    const std::string_view text = text_member(delta, "thinking").value_or("");
    held(index, kind::thinking).thinking.text += text;
    made.content = made.content || !text.empty();
  } else if (type == "signature_delta") {
    held(index, kind::thinking).thinking.signature += text_member(delta, "signature").value_or("");
  } else if (type == "input_json_delta") {
    auto& one = held(index, kind::unknown);
    // A server's own tools send their input the same way.
    if (one.what == kind::unknown) return {};
    if (one.what != kind::call) return bad("arguments were added to a block that is no call");
    const std::string_view text = text_member(delta, "partial_json").value_or("");
    one.call.arguments += text;
    made.content = made.content || !text.empty();
  }
  return {};
}

void block_assembler::finish(chat::reply& into) {
  for (auto& one : blocks_) {
    switch (one.what) {
      case kind::text:
        into.text += one.text;
        break;
      case kind::thinking:
        into.reasoning += one.thinking.text;
        if (!one.thinking.text.empty() || !one.thinking.signature.empty() || !one.thinking.redacted.empty()) {
          into.thinking.push_back(std::move(one.thinking));
        }
        break;
      case kind::call:
        if (one.call.arguments.empty()) one.call.arguments = std::move(one.given_input);
        if (one.call.arguments.empty()) one.call.arguments = "{}";
        into.calls.push_back(std::move(one.call));
        break;
      case kind::unknown:
        break;
    }
  }
  blocks_.clear();
}

}  // namespace evalcore::wire
