#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::score {

struct pattern_flags {
  bool ignore_case = false;
  bool dot_all = false;  ///< "." is a line end, too.
};

/// What searches that belong together may take: a million steps of backtracking, some tenths of a second.
struct search_steps {
  std::uint32_t left = 1'000'000;
};

/// A regular expression in Perl's syntax. One that RE2 can run takes linear time. One that it cannot, for
/// look-around or back-references, backtracks up to a bound on its steps, and reads UTF-8 only.
/// Both mean the same: `$` is the very end of the text, `\w`, `\d`, `\s`, `\b` and classes are of ASCII.
/// Copies share the compiled form; several threads may search at once.
class pattern {
 public:
  /// Errors: invalid_argument, saying what is wrong with the text.
  [[nodiscard]] static result<pattern> compile(std::string_view text, pattern_flags how = {});
  /// The same for a pattern of evalcore's own that is known not to backtrack far: it is bounded at each place
  /// of the text alone. Digits, letters and blanks are Unicode's, as in Python.
  [[nodiscard]] static result<pattern> compile_backtracking(std::string_view text, pattern_flags how = {});

  /// The whole match, then the groups; a group that took no part is absent. Views of the searched text.
  using match = std::vector<std::optional<std::string_view>>;

  /// The first match at or behind `from`, which is 0 when a text is searched first. Errors: timeout when no
  /// steps were left, and what the text holds is not known; bad_reply for text that is not UTF-8.
  [[nodiscard]] result<std::optional<match>> find(std::string_view text, std::size_t from,
                                                  search_steps& bound) const;
  [[nodiscard]] result<std::optional<match>> find(std::string_view text) const;
  /// All matches, which do not overlap, within one bound. Errors: as find().
  [[nodiscard]] result<std::vector<match>> find_all(std::string_view text) const;
  [[nodiscard]] std::size_t groups() const noexcept;
  /// Where the search for the next match in the text begins.
  [[nodiscard]] static std::size_t behind(const match& found, std::string_view text) noexcept;

 private:
  struct engine;
  struct linear;
  struct backtracking;
  static result<pattern> compile_backtracking(std::string_view text, pattern_flags how,
                                              std::uint32_t options);
  explicit pattern(std::shared_ptr<const engine> how) : engine_(std::move(how)) {}
  std::shared_ptr<const engine> engine_;
};

}  // namespace evalcore::score
