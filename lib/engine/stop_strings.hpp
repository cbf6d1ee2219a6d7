#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace evalcore::engine {

/// Cuts an answer before the first stop string that is whole, wherever its tokens end: the outcome depends on
/// the text alone, not on how it comes in pieces. Of several that are whole at the same byte the longest
/// counts.
class stop_strings {
 public:
  stop_strings() = default;
  explicit stop_strings(const std::vector<std::string>& stops);

  /// Appends to `out` what is certain to be shown. Text that may be the beginning of a stop string is held
  /// back. True: one is whole, and nothing more is taken.
  [[nodiscard]] bool feed(std::string_view text, std::string& out);
  /// What was held back and is no stop string after all. For the end of an answer that was not stopped.
  [[nodiscard]] std::string take_held();
  /// The one that was whole; empty: none was.
  [[nodiscard]] const std::string& found() const noexcept { return found_; }

 private:
  struct match {
    std::size_t begin;
    std::size_t end;
    const std::string* stop;
  };

  [[nodiscard]] const match* first_in(std::string_view text, match& best) const;
  [[nodiscard]] std::size_t undecided(std::string_view text) const;

  std::vector<std::string> stops_;
  std::array<bool, 256> begins_{};  ///< By byte: some stop string begins with it.
  std::string held_;
  std::string found_;
};

}  // namespace evalcore::engine
