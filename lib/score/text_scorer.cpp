#include "score/text_scorer.hpp"

#include <algorithm>
#include <utility>

#include <evalcore/chat/think_text.hpp>

#include "score/text.hpp"

namespace evalcore::score {

verdict text_scorer::score(const task& what, const chat::reply& answer) const {
  verdict out;
  const auto note = [&](std::string_view step, const std::string& text) {
    if (what.explain) out.steps.push_back({step, text});
  };
  if (auto fit = usable(what); !fit) {
    out.reason = std::move(fit).error().message;
    return out;
  }
  const auto text = chat::split_think_text(answer.text).text;
  note("reasoning", text);
  const bool no_end = chat::ends_in_reasoning(answer);
  auto extracted = no_end ? result<std::optional<std::string>>(std::nullopt) : extract(what, text);
  if (!extracted) {
    out.reason = std::move(extracted).error().message;
    return out;
  }
  comparison compared;
  if (*extracted) {
    out.extracted = **extracted;
    note("extract", out.extracted);
    const auto form = normalised(*std::move(*extracted));
    note("normalise", form);
    compared = compare(what, form);
  } else {
    compared = without_answer(what);
    // That an answer holds nothing can be right, but not of one that has not begun.
    if (no_end && compared.scored) {
      compared.value = 0;
      compared.reason = "the reply ends in its reasoning";
    }
    out.no_answer = compared.scored && compared.value == 0;
  }
  out.reason = std::move(compared.reason);
  if (!compared.scored) return out;
  out.scored = true;
  out.value = compared.value;
  out.further = std::move(compared.further);
  note("compare", out.reason.empty() ? "right" : out.reason);
  return out;
}

result<std::optional<std::string>> text_scorer::extract(const task& /*what*/, std::string_view text) const {
  return std::optional(std::string(trimmed(text)));
}

text_scorer::comparison text_scorer::without_answer(const task& /*what*/) const { return {}; }

std::optional<std::vector<std::string_view>> accepted_texts(const json::value& target) {
  if (const auto* text = target.if_string()) return std::vector<std::string_view>{*text};
  const auto* list = target.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  std::vector<std::string_view> out;
  for (const auto& one : *list) {
    const auto* text = one.if_string();
    if (text == nullptr) return std::nullopt;
    out.emplace_back(*text);
  }
  return out;
}

result<void> check_texts(const task& what, std::string_view name, bool may_be_empty) {
  const auto texts = accepted_texts(*what.target);
  const auto blank = [](std::string_view one) { return trimmed(one).empty(); };
  if (texts && (may_be_empty || std::ranges::none_of(*texts, blank))) return {};
  return fail(
      errc::bad_suite, stage::suite,
      "scorer " + std::string(name) +
          (may_be_empty ? ": the target must be a string or a list of accepted strings"
                        : ": the target must be a string with something in it, or a list of such strings"));
}

std::string got_expected(std::string_view got, const std::vector<std::string_view>& accepted) {
  std::string out = "got \"" + clipped(got) + "\", expected \"" + clipped(accepted.front()) + "\"";
  if (accepted.size() > 1) out += " or one of " + std::to_string(accepted.size() - 1) + " more";
  return out;
}

}  // namespace evalcore::score
