#include <evalcore/chat/think_text.hpp>

#include <algorithm>

namespace evalcore::chat {
namespace {

constexpr std::string_view begin_tag = "<think>";
constexpr std::string_view end_tag = "</think>";

std::string_view without_leading_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

}  // namespace

think_split split_think_text(std::string_view content) {
  std::string_view rest = without_leading_space(content);
  const bool begun = rest.starts_with(begin_tag);
  if (begun) rest.remove_prefix(begin_tag.size());
  const std::size_t end = rest.find(end_tag);
  // An end tag after a begin tag in the middle belongs to that one.
  if (!begun && (end == std::string_view::npos || rest.find(begin_tag) < end)) {
    return {.reasoning = {}, .text = std::string(content)};
  }
  if (end == std::string_view::npos) return {.reasoning = std::string(rest), .text = {}};
  return {.reasoning = std::string(begun ? rest.substr(0, end) : content.substr(0, content.find(end_tag))),
          .text = std::string(without_leading_space(rest.substr(end + end_tag.size())))};
}

bool ends_in_reasoning(const reply& answer) noexcept {
  if (answer.text.empty()) {
    return !answer.reasoning.empty() && answer.calls.empty() && answer.finish == finish_reason::length;
  }
  const auto rest = without_leading_space(answer.text);
  return rest.starts_with(begin_tag) && rest.find(end_tag) == std::string_view::npos;
}

}  // namespace evalcore::chat
