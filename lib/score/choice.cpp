#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "score/scorers.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

constexpr const char* wanted =
    "scorer choice: the target must be one of the line's \"choices\", as its text or as its place, a whole "
    "number from 0";

/// The place of the target; absent when it is none of the choices.
std::optional<std::size_t> place_of(const task& what) {
  if (what.choices == nullptr) return std::nullopt;
  const auto& choices = *what.choices;
  if (const auto* place = what.target->if_int()) {
    const bool one = *place >= 0 && static_cast<std::uint64_t>(*place) < choices.size();
    return one ? std::optional(static_cast<std::size_t>(*place)) : std::nullopt;
  }
  const auto* text = what.target->if_string();
  if (text == nullptr) return std::nullopt;
  const auto found = std::ranges::find(choices, *text);
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

/// Code points, the blanks before the first word aside: they part it from the prompt.
double characters(std::string_view choice) {
  choice.remove_prefix(std::min(choice.find_first_not_of(' '), choice.size()));
  return static_cast<double>(std::ranges::count_if(
      choice, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// Of equals the first.
template <class Value>
std::size_t likeliest(std::size_t count, Value value) {
  std::size_t best = 0;
  for (std::size_t at = 1; at < count; ++at) {
    if (value(at) > value(best)) best = at;
  }
  return best;
}

/// Brier, Monthly Weather Review 78, 1950, of the choices' likelihoods made to sum to 1.
double brier_score(const std::vector<chat::loglikelihood>& choices, std::size_t right) {
  const auto best = std::ranges::max(choices, {}, &chat::loglikelihood::sum_logprob).sum_logprob;
  double whole = 0;
  for (const auto& one : choices) whole += std::exp(one.sum_logprob - best);
  double out = 0;
  for (std::size_t at = 0; at < choices.size(); ++at) {
    const double off = std::exp(choices[at].sum_logprob - best) / whole - (at == right ? 1 : 0);
    out += off * off;
  }
  return out;
}

class choice final : public scorer {
 public:
  explicit choice(bool brier) : brier_(brier) {}
  [[nodiscard]] std::string_view name() const noexcept override { return brier_ ? "brier" : "choice"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "acc"; }
  [[nodiscard]] std::vector<further_metric> further_metrics() const override {
    if (brier_) return {{.name = "acc_norm"}, {.name = "brier_score", .comes_to = figure::loss}};
    return {{.name = "acc_norm"}};
  }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (!place_of(what)) return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    const auto right = place_of(what);
    if (!right || answer.choices.size() != what.choices->size()) {
      out.reason = right ? "the reply does not have the likelihood of each choice" : wanted;
      return out;
    }
    const auto sum = [&](std::size_t at) { return answer.choices[at].sum_logprob; };
    const auto best = likeliest(answer.choices.size(), sum);
    if (brier_ && !std::isfinite(sum(best))) {
      out.reason = "the reply finds every choice impossible";
      return out;
    }
    const auto best_for_its_length = likeliest(
        answer.choices.size(), [&](std::size_t at) { return sum(at) / characters((*what.choices)[at]); });
    out.scored = true;
    out.value = best == *right ? 1 : 0;
    out.further = {{"acc_norm", best_for_its_length == *right ? 1.0 : 0.0}};
    if (brier_) out.further.push_back({"brier_score", brier_score(answer.choices, *right)});
    out.extracted = (*what.choices)[best];
    if (best != *right)
      out.reason =
          "chose \"" + clipped(out.extracted) + "\", expected \"" + clipped((*what.choices)[*right]) + "\"";
    if (what.explain)
      out.steps = {{"extract", out.extracted}, {"compare", out.reason.empty() ? "right" : out.reason}};
    return out;
  }

 private:
  bool brier_;
};

}  // namespace

made_scorer make_choice(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<choice>(false);
}

made_scorer make_brier(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<choice>(true);
}

}  // namespace evalcore::score
