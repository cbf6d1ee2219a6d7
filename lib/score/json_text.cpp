#include "score/json_text.hpp"

#include <evalcore/base/json.hpp>

#include "score/text.hpp"

namespace evalcore::score {
namespace {

/// What stands in the last block between ``` and ```, its first line left out; empty: there is none.
std::string_view last_block(std::string_view text) {
  static constexpr std::string_view fence = "```";
  std::string_view found;
  for (;;) {
    const auto open = text.find(fence);
    if (open == std::string_view::npos) return found;
    const auto line = text.find('\n', open + fence.size());
    if (line == std::string_view::npos) return found;
    const auto close = text.find(fence, line + 1);
    if (close == std::string_view::npos) return found;
    found = text.substr(line + 1, close - line - 1);
    text.remove_prefix(close + fence.size());
  }
}

/// From the first opening bracket to the last closing one of its kind; empty: there are none.
std::string_view in_brackets(std::string_view text) {
  const auto begin = text.find_first_of("{[");
  if (begin == std::string_view::npos) return {};
  const auto end = text.rfind(text[begin] == '{' ? '}' : ']');
  return end == std::string_view::npos || end < begin ? std::string_view()
                                                      : text.substr(begin, end - begin + 1);
}

}  // namespace

std::optional<std::string> json_in(std::string_view text) {
  for (const auto piece : {trimmed(text), trimmed(last_block(text)), in_brackets(text)}) {
    if (!piece.empty() && json::parse(piece)) return std::string(piece);
  }
  return std::nullopt;
}

}  // namespace evalcore::score
