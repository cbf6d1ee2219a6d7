#pragma once

#include <string>
#include <string_view>

#include <evalcore/chat/reply.hpp>

namespace evalcore::chat {

struct think_split {
  std::string reasoning;
  std::string text;
};

/// Splits off reasoning that a server left in the content of an answer, in its three forms:
///   - `<think>r</think>t` at the beginning: reasoning r, text t;
///   - `<think>r`, cut before its end: all of it is reasoning;
///   - `r</think>t`, where the template had opened the block: reasoning r, text t.
/// White space before `<think>` and between `</think>` and the text goes; nothing else changes. Tags further
/// on are the answer's own text.
[[nodiscard]] think_split split_think_text(std::string_view content);

/// Whether an answer ended before its reasoning did: the block is open, or the server gave reasoning that
/// was cut by length and nothing else.
[[nodiscard]] bool ends_in_reasoning(const reply& answer) noexcept;

}  // namespace evalcore::chat
