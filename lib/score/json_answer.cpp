#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "score/json_text.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

bool equal_numbers(const json::value& a, const json::value& b) {
  if (a.if_double() == nullptr && b.if_double() == nullptr) return a == b;
  double first = 0;
  double second = 0;
  return *a.as_double(first) == *b.as_double(second);
}

bool equal(const json::value& a, const json::value& b) {  // NOLINT(misc-no-recursion): limits::json_depth
  double storage = 0;
  if (a.as_double(storage) != nullptr && b.as_double(storage) != nullptr) return equal_numbers(a, b);
  if (const auto* list = a.if_array()) {
    const auto* other = b.if_array();
    if (other == nullptr || other->size() != list->size()) return false;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!equal((*list)[i], (*other)[i])) return false;
    }
    return true;
  }
  if (const auto* members = a.if_object()) {
    const auto* other = b.if_object();
    if (other == nullptr || other->size() != members->size()) return false;
    for (const auto& [key, member] : *members) {
      const auto* held = b.find(key);
      if (held == nullptr || !equal(member, *held)) return false;
    }
    return true;
  }
  return a == b;
}

class json_answer final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "json"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "json_match"; }
  [[nodiscard]] result<void> check(const task& /*what*/) const override { return {}; }

 private:
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    return json_in(text);
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    if (equal(*json::parse(answer), *what.target)) return {.value = 1, .reason = {}};
    return {.value = 0,
            .reason = "got " + clipped(answer) + ", expected " + clipped(json::to_text(*what.target))};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    return {.value = 0, .reason = "no JSON in the reply, expected " + clipped(json::to_text(*what.target))};
  }
};

}  // namespace

made_scorer make_json(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<json_answer>();
}

}  // namespace evalcore::score
