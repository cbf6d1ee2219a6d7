#include <algorithm>
#include <set>

#include "score/letter_text.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

std::string listed(const std::set<char>& letters) {
  std::string out;
  for (const char one : letters) {
    if (!out.empty()) out += ", ";
    out += one;
  }
  return out;
}

class letter final : public text_scorer {
 public:
  explicit letter(std::string letters) : letters_(std::move(letters)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "letter"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "accuracy"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (target_of(what)) return {};
    return fail(
        errc::bad_suite, stage::suite,
        "scorer letter: the target must be one of the letters " + letters_ + ", or several: \"A, C\"");
  }

 private:
  [[nodiscard]] std::optional<std::set<char>> target_of(const task& what) const {
    const auto texts = accepted_texts(*what.target);
    if (!texts) return std::nullopt;
    std::set<char> out;
    for (const auto text : *texts) {
      for (const char c : text) {
        if (std::string_view(" ,;()").find(c) != std::string_view::npos) continue;
        if (letters_.find(c) == std::string::npos || !out.insert(c).second) return std::nullopt;
      }
    }
    return out.empty() ? std::nullopt : std::optional(std::move(out));
  }

  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    const auto chosen = chosen_letters(text, letters_);
    return chosen ? std::optional(listed(*chosen)) : std::nullopt;
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    const auto expected = listed(*target_of(what));
    if (answer == expected) return {.value = 1, .reason = {}};
    return {.value = 0, .reason = "chose " + answer + ", expected " + expected};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    return {.value = 0, .reason = "no choice in the reply, expected " + listed(*target_of(what))};
  }

  std::string letters_;
};

}  // namespace

made_scorer make_letter(const options& how) {
  if (auto fit = how.only({"letters"}); !fit) return std::move(fit).error();
  const auto given = how.text("letters");
  if (!given) return given.error();
  const auto letters = given->value_or("ABCDEFGHIJ");
  if (!std::ranges::all_of(letters, [](char c) { return c >= 'A' && c <= 'Z'; }))
    return how.wrong("letters", "has more than the letters A to Z");
  return made<letter>(letters);
}

}  // namespace evalcore::score
