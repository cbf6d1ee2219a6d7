#include <algorithm>

#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

class exact final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "exact"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "exact_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    return check_texts(what, name(), true);
  }

 private:
  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    auto texts = *accepted_texts(*what.target);
    for (auto& one : texts) one = trimmed(one);
    if (std::ranges::find(texts, answer) != texts.end()) return {.value = 1, .reason = {}};
    return {.value = 0, .reason = got_expected(answer, texts)};
  }
};

}  // namespace

made_scorer make_exact(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<exact>();
}

}  // namespace evalcore::score
