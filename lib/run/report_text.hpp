#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

namespace evalcore::run {

/// How many bytes of a prompt or of an answer a report shows: of a longer one its two ends, as a question
/// mostly stands at the end of a prompt, and an answer at the end of a reply.
inline constexpr std::size_t report_text_bytes = 2048;
/// The same for what is one line: an id, a target, what was compared.
inline constexpr std::size_t report_line_bytes = 512;

/// A text as a page has it: as a string, or where a part is left out as [front, bytes left out, end]. Cut
/// between characters; what is no UTF-8 is read as U+FFFD when it is written.
[[nodiscard]] json::value cut_text(std::string_view text, std::size_t most = report_line_bytes);

/// Texts that follow each other, cut to `most` bytes together: a value for each as cut_text() has it.
[[nodiscard]] std::vector<json::value> cut_texts(std::span<const std::string_view> texts, std::size_t most);

/// Finds what texts have in common at their beginning, so that a page holds it once. It looks at the last few
/// texts alone, and forgets all with reset().
class shared_fronts {
 public:
  struct split {
    std::size_t front = none;  ///< Which of fronts(); none: it shares nothing worth it.
    std::string_view own;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  [[nodiscard]] split add(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& fronts() const noexcept { return fronts_; }
  void reset();

 private:
  std::vector<std::string> fronts_;
  std::deque<std::string> recent_;
};

}  // namespace evalcore::run
