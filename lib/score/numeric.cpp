#include "score/numeric.hpp"

#include <algorithm>
#include <cmath>

#include "score/scorers.hpp"
#include "score/text.hpp"

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

bool equal(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

class numeric final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "numeric"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "numeric_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (!target_number(*what.target)) return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    const auto target = target_number(*what.target);
    if (!target) {
      out.reason = wanted;
      return out;
    }
    out.scored = true;
    const auto got = last_number(answer.text);
    if (got) out.extracted = got->text;
    if (got && equal(got->value, *target)) {
      out.value = 1;
      return out;
    }
    const std::string expected = ", expected " + json::to_text(*what.target);
    out.reason = got ? "got " + clipped(got->text) + expected : "no number in the reply" + expected;
    return out;
  }
};

}  // namespace

std::shared_ptr<const scorer> make_numeric() { return std::make_shared<numeric>(); }

}  // namespace evalcore::score
