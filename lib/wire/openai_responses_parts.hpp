#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

#include "wire/json_view.hpp"

/// What whole and streamed responses have in common.
namespace evalcore::wire {

/// An item of a response's output. Parts are kept by their index: a stream may name any.
struct output_item {
  enum class kind : std::uint8_t { message, reasoning, call, unknown };
  struct part {
    std::string text;
    std::string refusal;
    std::vector<chat::token_logprob> logprobs;
  };

  kind what = kind::unknown;
  std::string id;
  std::map<std::int64_t, part> content;         ///< Of a message, or the full text of reasoning.
  std::map<std::int64_t, std::string> summary;  ///< Of reasoning.
  std::string encrypted;                        ///< Reasoning that only its server can read.
  chat::tool_call call;
};

/// Errors: bad_reply for what is no item. An item of an unknown kind has nothing in it.
[[nodiscard]] result<output_item> read_output_item(const element& from);
/// One piece of an item's content. Errors: bad_reply for text that is none.
[[nodiscard]] result<output_item::part> read_output_part(const element& from);

/// The reply that a response in a final `state` is, by its own output or, where it has none, by the items
/// that were `streamed` before it. Errors: those of decode_openai_response().
[[nodiscard]] result<chat::reply> read_response(const element& response, std::string_view state,
                                                std::vector<output_item> streamed, const dialect& ways);

/// Puts items together from the events of a stream. By the book each event names its item by `output_index`
/// and its piece of content by `content_index`; llama.cpp's server names only the item, by `item_id`.
class output_assembler {
 public:
  /// response.output_item.added, and .done, which tells the whole item again.
  [[nodiscard]] result<void> add_item(std::string_view type, const element& event, stream_progress& made);
  /// response.content_part.added.
  [[nodiscard]] result<void> add_part(const element& event);
  /// An event that adds to a text, `type` as in "response.output_text.delta", or tells the whole of it
  /// (".done"); others are skipped. Errors: bad_reply for text of an item that holds none.
  [[nodiscard]] result<void> add_text(std::string_view type, const element& event, stream_progress& made);

  /// In the order of the output.
  [[nodiscard]] std::vector<output_item> take();

 private:
  [[nodiscard]] output_item& open(const element& event, std::string_view id, output_item::kind what);
  /// The item that an event is about: the last one where it names none.
  [[nodiscard]] output_item& held(const element& event, std::string_view id, output_item::kind otherwise);

  std::map<std::int64_t, output_item> items_;
};

}  // namespace evalcore::wire
