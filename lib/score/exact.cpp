#include <algorithm>

#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

constexpr const char* wanted = "scorer exact: the target must be a string or a list of accepted strings";

class exact final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "exact"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "exact_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (!accepted_texts(*what.target)) return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

 private:
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    return std::optional(std::string(trimmed(text)));
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    auto texts = *accepted_texts(*what.target);
    for (auto& one : texts) one = trimmed(one);
    if (std::ranges::find(texts, answer) != texts.end()) return {.value = 1, .reason = {}};
    return {.value = 0, .reason = got_expected(answer, texts)};
  }

  [[nodiscard]] comparison without_answer(const task& /*what*/) const override { return {}; }
};

}  // namespace

made_scorer make_exact(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<exact>();
}

}  // namespace evalcore::score
