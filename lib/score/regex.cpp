#include <algorithm>
#include <cstddef>

#include "score/pattern.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

constexpr const char* wanted =
    "scorer regex: the target must be a string, a list of accepted strings, or whether the pattern matches";

class regex final : public text_scorer {
 public:
  regex(pattern what, std::size_t group, bool first)
      : pattern_(std::move(what)), group_(group), first_(first) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "regex"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "exact_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (what.target->if_bool() != nullptr || accepted_texts(*what.target)) return {};
    return fail(errc::bad_suite, stage::suite, wanted);
  }

 private:
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    // "$" is the very end, and a line end behind an answer is no part of it.
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    std::optional<std::string> out;
    search_steps bound;
    for (std::size_t from = 0; from <= text.size();) {
      auto found = pattern_.find(text, from, bound);
      if (!found) return std::move(found).error();
      if (!*found) break;
      const auto& groups = **found;
      // A group that took no part, or holds nothing, is no answer.
      const auto held = trimmed(groups[group_].value_or(std::string_view()));
      if (!held.empty() || group_ == 0) out = held;
      if (out && first_) break;
      from = pattern::behind(groups, text);
    }
    return out;
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    if (const auto* must = what.target->if_bool()) {
      return *must ? comparison{.value = 1, .reason = {}}
                   : comparison{.value = 0, .reason = "found \"" + clipped(answer) + "\", expected nothing"};
    }
    auto texts = *accepted_texts(*what.target);
    for (auto& one : texts) one = trimmed(one);
    if (std::ranges::find(texts, answer) != texts.end()) return {.value = 1, .reason = {}};
    return {.value = 0, .reason = got_expected(answer, texts)};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    if (const auto* must = what.target->if_bool(); must != nullptr && !*must)
      return {.value = 1, .reason = {}};
    return {.value = 0, .reason = "the pattern finds nothing in the reply"};
  }

  pattern pattern_;
  std::size_t group_;
  bool first_;
};

}  // namespace

made_scorer make_regex(const options& how) {
  if (auto fit = how.only({"pattern", "group", "take", "ignore_case"}); !fit) return std::move(fit).error();
  const auto text = how.text("pattern");
  if (!text) return text.error();
  if (!*text) return how.wrong("pattern", "is missing, the regular expression that finds the answer");
  const auto ignore_case = how.flag("ignore_case", false);
  if (!ignore_case) return ignore_case.error();
  auto compiled = pattern::compile(**text, {.ignore_case = *ignore_case});
  if (!compiled) return how.wrong("pattern", "is " + compiled.error().message);
  const auto group = how.number("group");
  if (!group) return group.error();
  const auto groups = compiled->groups();
  const auto chosen = group->value_or(groups > 0 ? 1 : 0);
  if (static_cast<std::size_t>(chosen) > groups) {
    return how.wrong("group", "is more than the pattern has: " + std::to_string(groups));
  }
  const auto take = how.text("take");
  if (!take) return take.error();
  const auto which = take->value_or("last");
  if (which != "first" && which != "last") return how.wrong("take", "is neither \"first\" nor \"last\"");
  return made<regex>(*std::move(compiled), static_cast<std::size_t>(chosen), which == "first");
}

}  // namespace evalcore::score
