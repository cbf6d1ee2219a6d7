#include "score/math_text.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

class math final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "math"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "math_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    return check_texts(what, name(), false);
  }

 private:
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    const auto found = math_answer(text);
    return found.empty() ? std::nullopt : std::optional(std::string(found));
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    const auto texts = *accepted_texts(*what.target);
    for (const auto one : texts) {
      // A target may be a solution as the benchmark writes it, with its answer in a box.
      if (math_equivalent(answer, math_answer(one))) return {.value = 1, .reason = {}};
    }
    return {.value = 0, .reason = got_expected(answer, texts)};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    return {.value = 0,
            .reason = "no answer in the reply, expected \"" + clipped(accepted_texts(*what.target)->front()) +
                      "\""};
  }
};

}  // namespace

made_scorer make_math(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<math>();
}

}  // namespace evalcore::score
