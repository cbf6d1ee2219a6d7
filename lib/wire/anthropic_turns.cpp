#include "wire/anthropic_turns.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "wire/encode_parts.hpp"

namespace evalcore::wire {
namespace {

using block = message_turns::block;

constexpr std::size_t most_breakpoints = 4;
constexpr std::string_view cache_control = R"({"type":"ephemeral"})";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_system(chat::role who) { return who == chat::role::system || who == chat::role::developer; }

block text_block(const std::string& text) {
  json::writer out;
  out.begin_object().key("type").string("text").key("text").string(text);
  return {.json = out.take(), .text = text, .is_text = true};
}

result<block> image_block(std::string_view url) {
  json::writer out;
  out.begin_object().key("type").string("image").key("source").begin_object().key("type");
  if (url.starts_with("http://") || url.starts_with("https://")) {
    out.string("url").key("url").string(url);
  } else {
    constexpr std::string_view scheme = "data:";
    constexpr std::string_view coding = ";base64";
    const std::size_t comma = url.find(',');
    if (!url.starts_with(scheme) || comma == std::string_view::npos ||
        !url.substr(0, comma).ends_with(coding)) {
      return refuse(errc::invalid_argument, "an image is neither an http URL nor base64 in a data URL");
    }
    const std::string_view kind = url.substr(scheme.size(), comma - scheme.size());
    out.string("base64").key("media_type").string(kind.substr(0, kind.find(';')));
    out.key("data").string(url.substr(comma + 1));
  }
  out.end_object();
  return block{.json = out.take()};
}

result<block> call_block(const chat::tool_call& call) {
  std::string_view input = call.arguments;
  if (input.starts_with(byte_order_mark)) input.remove_prefix(byte_order_mark.size());
  input = sent_arguments(input);
  const auto parsed = json::parse(input);
  if (!parsed || parsed->if_object() == nullptr) {
    return refuse(errc::invalid_argument, "the arguments of a call in the history are no JSON object");
  }
  if (call.id.empty()) return refuse(errc::invalid_argument, "a call in the history has no id");
  json::writer out;
  out.begin_object().key("type").string("tool_use").key("id").string(call.id);
  out.key("name").string(call.name).key("input").raw(input);
  return block{.json = out.take()};
}

block thinking_block(const chat::thinking_block& one) {
  json::writer out;
  out.begin_object().key("type");
  if (!one.redacted.empty()) {
    out.string("redacted_thinking").key("data").string(one.redacted);
  } else {
    out.string("thinking").key("thinking").string(one.text).key("signature").string(one.signature);
  }
  return {.json = out.take()};
}

void put_block(json::writer& out, const block& one) {
  std::string json = one.json;
  if (one.breakpoint) json.append(",\"cache_control\":").append(cache_control);
  out.raw(json + "}");
}

void put_blocks(json::writer& out, const std::vector<block>& blocks) {
  if (blocks.size() == 1 && blocks.front().is_text && !blocks.front().breakpoint) {
    out.string(blocks.front().text);
    return;
  }
  out.begin_array();
  for (const auto& one : blocks) put_block(out, one);
  out.end_array();
}

result<std::vector<block>> text_and_images(const chat::message& turn) {
  std::vector<block> blocks;
  // The API refuses an empty text block.
  if (!turn.text.empty()) blocks.push_back(text_block(turn.text));
  for (const auto& url : turn.image_urls) {
    auto image = image_block(url);
    if (!image) return std::move(image).error();
    blocks.push_back(*std::move(image));
  }
  return blocks;
}

result<block> tool_result(const chat::message& turn) {
  if (turn.call_id.empty()) {
    return refuse(errc::invalid_argument, "a tool's result does not say which call it answers");
  }
  const auto content = text_and_images(turn);
  if (!content) return content.error();
  json::writer out;
  out.begin_object().key("type").string("tool_result").key("tool_use_id").string(turn.call_id);
  if (!content->empty()) {
    out.key("content");
    put_blocks(out, *content);
  }
  if (turn.is_error) out.key("is_error").boolean(true);
  return block{.json = out.take()};
}

/// The messages after which a breakpoint is sent: the last ones, since the longest prefix is worth most.
std::set<std::size_t> breakpoints(const chat::request& request, std::size_t first, std::size_t most) {
  std::set<std::size_t> after;
  for (const std::size_t index : request.hints.breakpoints.after_messages) {
    if (index >= first && index < request.messages.size()) after.insert(index);
  }
  while (after.size() > most) after.erase(after.begin());
  return after;
}

/// Reads turn after turn and joins those of one side, or with `apart` only the results of one turn's calls.
class turn_reader {
 public:
  explicit turn_reader(bool apart) : apart_(apart) {}

  [[nodiscard]] result<void> add(const chat::message& from, bool breakpoint);
  [[nodiscard]] std::vector<message_turns::turn> take() { return std::move(turns_); }
  [[nodiscard]] bool left_reasoning_out() const { return left_reasoning_out_; }

 private:
  [[nodiscard]] result<std::vector<block>> assistant_blocks(const chat::message& from);
  [[nodiscard]] bool joins_last(const chat::message& from) const;

  const bool apart_;
  std::vector<message_turns::turn> turns_;
  bool left_reasoning_out_ = false;
};

result<std::vector<block>> turn_reader::assistant_blocks(const chat::message& from) {
  if (!from.image_urls.empty()) {
    return refuse(errc::unsupported, "Anthropic's API takes no image in an assistant turn");
  }
  std::vector<block> blocks;
  for (const auto& one : from.thinking) blocks.push_back(thinking_block(one));
  // Reasoning as plain text has no signature, and unsigned it is refused.
  if (from.thinking.empty() && !from.reasoning.empty()) left_reasoning_out_ = true;
  if (!from.text.empty()) blocks.push_back(text_block(from.text));
  for (const auto& call : from.calls) {
    auto made = call_block(call);
    if (!made) return std::move(made).error();
    blocks.push_back(*std::move(made));
  }
  return blocks;
}

bool turn_reader::joins_last(const chat::message& from) const {
  if (turns_.empty()) return false;
  const auto& last = turns_.back();
  if (last.assistant != (from.who == chat::role::assistant)) return false;
  return !apart_ || (from.who == chat::role::tool && last.content.empty());
}

result<void> turn_reader::add(const chat::message& from, bool breakpoint) {
  const bool assistant = from.who == chat::role::assistant;
  const bool tool = from.who == chat::role::tool;
  result<std::vector<block>> made = std::vector<block>{};
  if (tool) {
    auto one = tool_result(from);
    if (!one) return std::move(one).error();
    made->push_back(*std::move(one));
  } else {
    made = assistant ? assistant_blocks(from) : text_and_images(from);
  }
  if (!made) return std::move(made).error();
  if (made->empty()) return {};
  // A block of thinking takes no breakpoint.
  if (breakpoint && made->size() > from.thinking.size()) made->back().breakpoint = true;
  if (!joins_last(from)) {
    turns_.emplace_back();
    turns_.back().assistant = assistant;
  }
  auto& into = tool ? turns_.back().results : turns_.back().content;
  std::ranges::move(*made, std::back_inserter(into));
  return {};
}

result<void> check_order(const message_turns& all, bool may_end_in_assistant) {
  if (all.turns.empty()) return refuse(errc::invalid_argument, "the request has no turn with content");
  if (all.turns.front().assistant) {
    return refuse(errc::unsupported, "Anthropic's API wants a user turn first");
  }
  const auto& last = all.turns.back();
  if (!last.assistant) return {};
  if (!may_end_in_assistant) {
    return refuse(errc::unsupported, "this version of Anthropic's API continues no assistant turn");
  }
  const std::string& text = last.content.back().text;
  if (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos) {
    return refuse(errc::unsupported, "Anthropic's API continues no assistant turn that ends in white space");
  }
  return {};
}

}  // namespace

void put_cache_control(json::writer& out) { out.key("cache_control").raw(cache_control); }

void message_turns::put(json::writer& out) const {
  out.begin_array();
  for (const auto& one : turns) {
    out.begin_object().key("role").string(one.assistant ? "assistant" : "user").key("content");
    std::vector<block> blocks = one.results;
    blocks.insert(blocks.end(), one.content.begin(), one.content.end());
    put_blocks(out, blocks);
    out.end_object();
  }
  out.end_array();
}

result<message_turns> read_message_turns(const chat::request& request, const dialect& ways,
                                         bool may_end_in_assistant) {
  const auto& messages = request.messages;
  const auto& wanted = request.hints.breakpoints;
  message_turns all;
  std::size_t first = 0;
  for (; first < messages.size() && is_system(messages[first].who); ++first) {
    const auto& turn = messages[first];
    if (!turn.image_urls.empty()) {
      return refuse(errc::unsupported, "Anthropic's API takes no image in a system turn");
    }
    if (!all.system.empty() && !turn.text.empty()) all.system += "\n\n";
    all.system += turn.text;
  }
  const auto ends_system = [&](std::size_t index) { return index + 1 == first; };
  all.after_tools = wanted.after_tools && !request.tools.empty();
  all.after_system =
      !all.system.empty() && (wanted.after_system || std::ranges::any_of(wanted.after_messages, ends_system));
  const std::size_t taken = std::size_t{all.after_tools} + std::size_t{all.after_system};
  const auto after = breakpoints(request, first, most_breakpoints - taken);

  turn_reader reader(ways.messages_apart);
  for (std::size_t index = first; index < messages.size(); ++index) {
    if (is_system(messages[index].who)) {
      return refuse(errc::unsupported, "Anthropic's API takes system turns only at the beginning");
    }
    if (auto added = reader.add(messages[index], after.contains(index)); !added) {
      return std::move(added).error();
    }
  }
  all.turns = reader.take();
  if (reader.left_reasoning_out()) all.dropped.emplace_back("reasoning");
  if (auto sound = check_order(all, may_end_in_assistant); !sound) return std::move(sound).error();
  return all;
}

}  // namespace evalcore::wire
