#include "score/numeric.hpp"

#include <algorithm>
#include <cmath>

#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

constexpr const char* wanted = "scorer numeric: the target must be a number, or a string that is one";

std::optional<double> target_number(const json::value& target) {
  double storage = 0;
  if (const auto* number = target.as_double(storage)) return *number;
  const auto* text = target.if_string();
  if (text == nullptr) return std::nullopt;
  std::string_view bare = trimmed(*text);
  const auto number = last_number(bare);
  if (bare.ends_with('%')) bare = trimmed(bare.substr(0, bare.size() - 1));
  if (!number || number->text != bare) return std::nullopt;
  return number->value;
}

class numeric final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "numeric"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "numeric_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (!target_number(*what.target)) return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

 private:
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    const auto got = last_number(text);
    return got ? std::optional(std::string(got->text)) : std::nullopt;
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    const auto got = last_number(answer);
    if (got && same_number(got->value, *target_number(*what.target))) return {.value = 1, .reason = {}};
    return {.value = 0, .reason = "got " + clipped(answer) + ", expected " + json::to_text(*what.target)};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    return {.value = 0, .reason = "no number in the reply, expected " + json::to_text(*what.target)};
  }
};

}  // namespace

bool same_number(double a, double b) noexcept {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

made_scorer make_numeric(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<numeric>();
}

}  // namespace evalcore::score
