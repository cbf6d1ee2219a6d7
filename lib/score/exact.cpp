#include <optional>

#include "score/scorers.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

/// The accepted texts; absent when the target is neither a string nor a list of strings.
std::optional<std::vector<std::string_view>> accepted(const json::value& target) {
  std::vector<std::string_view> out;
  if (const auto* text = target.if_string()) return std::vector{trimmed(*text)};
  const auto* list = target.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  for (const auto& one : *list) {
    const auto* text = one.if_string();
    if (text == nullptr) return std::nullopt;
    out.push_back(trimmed(*text));
  }
  return out;
}

constexpr const char* wanted = "scorer exact: the target must be a string or a list of accepted strings";

class exact final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "exact"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "exact_match"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    if (!accepted(*what.target)) return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    const auto texts = accepted(*what.target);
    if (!texts) {
      out.reason = wanted;
      return out;
    }
    const std::string_view got = trimmed(answer.text);
    out.scored = true;
    out.extracted = got;
    for (const auto text : *texts) {
      if (got == text) out.value = 1;
    }
    if (out.value == 1) return out;
    out.reason = "got \"" + clipped(got) + "\", expected \"" + clipped(texts->front()) + "\"";
    if (texts->size() > 1) out.reason += " or one of " + std::to_string(texts->size() - 1) + " more";
    return out;
  }
};

}  // namespace

std::shared_ptr<const scorer> make_exact() { return std::make_shared<exact>(); }

}  // namespace evalcore::score
