#include "score/json_text.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>

#include <evalcore/base/json.hpp>
#include <evalcore/base/limits.hpp>

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

/// Of a text that json::parse() refuses: whether only its numbers are in the way.
bool has_great_numbers(std::string_view text) {
  bool deep = false;
  try {
    [[maybe_unused]] const auto read =
        nlohmann::json::parse(text, [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
          deep = deep || static_cast<std::uint64_t>(depth) > limits::json_depth;
          return true;
        });
  } catch (const nlohmann::json::out_of_range&) {
    return !deep;
  } catch (const nlohmann::json::parse_error&) {
    return false;
  }
  return !deep;
}

}  // namespace

result<std::optional<std::string>> json_in(std::string_view text) {
  bool great = false;
  for (const auto piece : {trimmed(text), trimmed(last_block(text)), in_brackets(text)}) {
    if (piece.empty()) continue;
    if (json::parse(piece)) return std::optional(std::string(piece));
    great = great || has_great_numbers(piece);
  }
  if (great)
    return fail(errc::unsupported, stage::score, "the JSON of the reply has a number beyond 64 bits");
  return std::optional<std::string>();
}

}  // namespace evalcore::score
