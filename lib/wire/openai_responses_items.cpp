#include <array>
#include <iterator>
#include <utility>

#include "wire/openai_parts.hpp"
#include "wire/openai_responses_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

/// A text that a stream tells in pieces.
struct streamed_text {
  enum class place : std::uint8_t { text, refusal, arguments, full, summary };

  std::string_view type;  ///< Of its events, without ".delta" or ".done".
  output_item::kind holder;
  place where;
  std::string_view whole;  ///< The member of ".done" that holds it all.
};

using enum output_item::kind;
using place = streamed_text::place;

constexpr std::array texts{
    streamed_text{"response.output_text", message, place::text, "text"},
    streamed_text{"response.refusal", message, place::refusal, "refusal"},
    streamed_text{"response.function_call_arguments", call, place::arguments, "arguments"},
    streamed_text{"response.reasoning_text", reasoning, place::full, "text"},
    streamed_text{"response.reasoning_summary_text", reasoning, place::summary, "text"},
};

const streamed_text* text_of_type(std::string_view type) {
  for (const auto& one : texts) {
    if (one.type == type) return &one;
  }
  return nullptr;
}

std::optional<std::int64_t> index_member(const element& from, std::string_view key) {
  const auto found = member(from, key);
  std::int64_t index = 0;
  if (!found || found->get_int64().get(index) != simdjson::SUCCESS) return std::nullopt;
  return index;
}

template <class Value>
std::int64_t last_index(const std::map<std::int64_t, Value>& held) {
  return held.empty() ? 0 : std::prev(held.end())->first;
}

template <class Value>
std::int64_t next_index(const std::map<std::int64_t, Value>& held) {
  return held.empty() || held.rbegin()->first == INT64_MAX ? last_index(held) : last_index(held) + 1;
}

output_item::part& part_in(output_item& item, const element& event) {
  return item.content[index_member(event, "content_index").value_or(last_index(item.content))];
}

std::string& text_in(output_item& item, place where, const element& event) {
  switch (where) {
    case place::refusal:
      return part_in(item, event).refusal;
    case place::arguments:
      return item.call.arguments;
    case place::summary:
      return item.summary[index_member(event, "summary_index").value_or(last_index(item.summary))];
    case place::text:
    case place::full:
      break;
  }
  return part_in(item, event).text;
}

void note(const streamed_text& what, std::string_view text, stream_progress& made) {
  // As in a chat stream, a refusal is no content.
  if (what.where == place::refusal || text.empty()) return;
  made.content = true;
  if (what.where == place::text) made.text += text;
}

}  // namespace

output_item& output_assembler::open(const element& event, std::string_view id, output_item::kind what) {
  auto& made = items_[index_member(event, "output_index").value_or(next_index(items_))];
  made.what = what;
  made.id = id;
  return made;
}

output_item& output_assembler::held(const element& event, std::string_view id, output_item::kind otherwise) {
  if (const auto index = index_member(event, "output_index")) {
    const auto found = items_.find(*index);
    return found != items_.end() ? found->second : open(event, id, otherwise);
  }
  if (id.empty()) return items_.empty() ? open(event, id, otherwise) : items_.rbegin()->second;
  for (auto& [index, item] : items_) {
    if (item.id == id) return item;
  }
  return open(event, id, otherwise);
}

result<void> output_assembler::add_item(std::string_view type, const element& event, stream_progress& made) {
  const auto told = member(event, "item");
  if (!told) return {};
  auto item = read_output_item(*told);
  if (!item) return std::move(item).error();
  if (item->what == call) made.content = true;
  const bool begins = type.ends_with(".added");
  const auto index = index_member(event, "output_index");
  if (begins && index && items_.contains(*index)) return bad("two items begin at one place of the output");
  auto& into = begins ? open(event, item->id, item->what) : held(event, item->id, item->what);
  into = *std::move(item);
  return {};
}

result<void> output_assembler::add_part(const element& event) {
  const auto told = member(event, "part");
  if (!told) return {};
  auto part = read_output_part(*told);
  if (!part) return std::move(part).error();
  auto& item = held(event, text_member(event, "item_id").value_or(""), message);
  item.content[index_member(event, "content_index").value_or(next_index(item.content))] = *std::move(part);
  return {};
}

result<void> output_assembler::add_text(std::string_view type, const element& event, stream_progress& made) {
  const std::size_t cut = type.rfind('.');
  const auto* what = cut == std::string_view::npos ? nullptr : text_of_type(type.substr(0, cut));
  if (what == nullptr) return {};
  const bool piece = type.substr(cut) == ".delta";
  const auto told = text_member(event, piece ? "delta" : what->whole);
  if (!told) return {};
  auto& item = held(event, text_member(event, "item_id").value_or(""), what->holder);
  if (item.what == unknown) return {};
  if (item.what != what->holder) return bad("text was added to an item that holds none of its kind");
  auto& text = text_in(item, what->where, event);
  if (piece || text.empty()) note(*what, *told, made);
  if (!piece) text.clear();
  text += *told;
  if (piece && what->where == place::text) {
    read_token_list(event, "logprobs", part_in(item, event).logprobs);
  }
  return {};
}

std::vector<output_item> output_assembler::take() {
  std::vector<output_item> items;
  items.reserve(items_.size());
  for (auto& [index, item] : items_) items.push_back(std::move(item));
  items_.clear();
  return items;
}

}  // namespace evalcore::wire
