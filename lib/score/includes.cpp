#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"
#include "score/unicode.hpp"

namespace evalcore::score {
namespace {

class includes final : public text_scorer {
 public:
  explicit includes(bool ignore_case) : ignore_case_(ignore_case) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "includes"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "includes"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    // Every text holds an empty one.
    return check_texts(what, name(), false);
  }

 private:
  [[nodiscard]] std::string normalised(std::string answer) const override {
    return ignore_case_ ? lower(answer) : answer;
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    const auto texts = *accepted_texts(*what.target);
    for (const auto one : texts) {
      if (answer.find(normalised(std::string(trimmed(one)))) != std::string::npos)
        return {.value = 1, .reason = {}};
    }
    return {.value = 0, .reason = got_expected(answer, texts) + " in it"};
  }

  bool ignore_case_;
};

}  // namespace

made_scorer make_includes(const options& how) {
  if (auto fit = how.only({"ignore_case"}); !fit) return std::move(fit).error();
  const auto ignore_case = how.flag("ignore_case", false);
  if (!ignore_case) return ignore_case.error();
  return made<includes>(*ignore_case);
}

}  // namespace evalcore::score
