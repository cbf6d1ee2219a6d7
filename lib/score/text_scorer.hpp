#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/score/scorer.hpp>

namespace evalcore::score {

/// A scorer of a reply's text, in steps: reasoning goes, an answer is extracted, brought into the form in
/// which it is compared, and compared.
class text_scorer : public scorer {
 public:
  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const final;

 protected:
  struct comparison {
    double value = 0;    ///< 0 … 1.
    std::string reason;  ///< Why it is not right; empty when it is.
    std::vector<further_value> further = {};
    bool scored = true;  ///< False: it cannot be compared, for `reason`.
  };

  /// Whether a reply can be compared with the target. Errors: of check(), but for what compare() and
  /// without_answer() themselves leave unscored.
  [[nodiscard]] virtual result<void> usable(const task& what) const { return check(what); }
  /// The answer in the text, by default all of it but the white space at its ends; absent: there is none.
  /// Errors: of the scorer, whose reply is then unscored.
  [[nodiscard]] virtual result<std::optional<std::string>> extract(const task& what,
                                                                   std::string_view text) const;
  /// The form in which it is compared.
  [[nodiscard]] virtual std::string normalised(std::string answer) const { return answer; }
  [[nodiscard]] virtual comparison compare(const task& what, const std::string& answer) const = 0;
  /// What a reply without an answer is, by default wrong for no reason of the scorer's own.
  [[nodiscard]] virtual comparison without_answer(const task& what) const;
};

/// The accepted texts of a target that is a string or a list of them; absent when it is neither.
[[nodiscard]] std::optional<std::vector<std::string_view>> accepted_texts(const json::value& target);

/// Checks that the target is a string or a list of them, none blank unless `may_be_empty`. Errors: bad_suite,
/// with the scorer's `name`.
[[nodiscard]] result<void> check_texts(const task& what, std::string_view name, bool may_be_empty);

/// `got "x", expected "y" or one of 2 more`.
[[nodiscard]] std::string got_expected(std::string_view got, const std::vector<std::string_view>& accepted);

}  // namespace evalcore::score
