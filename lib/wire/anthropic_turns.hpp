#pragma once

#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>

/// The turns of a conversation in the order and form that Anthropic's API wants.
namespace evalcore::wire {

struct message_turns {
  /// One object of a turn's content, as JSON text without its closing brace.
  struct block {
    std::string json;
    std::string text;  ///< Of a text block; only that one may also stand as a plain string.
    bool is_text = false;
    bool breakpoint = false;
  };
  struct turn {
    bool assistant = false;
    std::vector<block> results;  ///< Tool results: they come first.
    std::vector<block> content;
  };

  std::string system;
  bool after_tools = false;  ///< Where cache breakpoints stand.
  bool after_system = false;
  std::vector<turn> turns;
  std::vector<std::string> dropped;

  /// Writes the value of `messages`.
  void put(json::writer& out) const;
};

/// Errors: those of encode_anthropic_messages() that are about turns.
[[nodiscard]] result<message_turns> read_message_turns(const chat::request& request, const dialect& ways,
                                                       bool may_end_in_assistant);

void put_cache_control(json::writer& out);

}  // namespace evalcore::wire
