#include <algorithm>
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

class choice final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "choice"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "acc"; }
  [[nodiscard]] std::vector<std::string_view> further_metrics() const override { return {"acc_norm"}; }

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
    const auto best_for_its_length = likeliest(
        answer.choices.size(), [&](std::size_t at) { return sum(at) / characters((*what.choices)[at]); });
    out.scored = true;
    out.value = best == *right ? 1 : 0;
    out.further = {{"acc_norm", best_for_its_length == *right ? 1.0 : 0.0}};
    out.extracted = (*what.choices)[best];
    if (best != *right)
      out.reason =
          "chose \"" + clipped(out.extracted) + "\", expected \"" + clipped((*what.choices)[*right]) + "\"";
    if (what.explain)
      out.steps = {{"extract", out.extracted}, {"compare", out.reason.empty() ? "right" : out.reason}};
    return out;
  }
};

}  // namespace

made_scorer make_choice(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<choice>();
}

}  // namespace evalcore::score
