// Without this the library ends the program where it has something to say.
#define VALIJSON_USE_EXCEPTIONS 1

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "score/json_text.hpp"
#include "score/schema_fault.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

error bad(std::string why) {
  return fail(errc::bad_suite, stage::suite, "scorer json_schema: " + std::move(why));
}

/// The library keeps an error of each part that is wrong, some hundred bytes for two of the text. Of the JSON
/// of a reply beyond so many bytes only whether it is valid is told.
constexpr std::size_t most_explained = 100'000;

/// Draft 7 takes a number without a fraction for an integer, however it is written; the library goes by how.
/// It reads integers as signed ones. Whether all of them are.
// NOLINTNEXTLINE(misc-no-recursion): limits::json_depth
bool settle_numbers(nlohmann::json& in) {
  if (in.is_structured()) {
    bool fit = true;
    for (auto& one : in) fit = settle_numbers(one) && fit;
    return fit;
  }
  if (in.is_number_float()) {
    const auto number = in.get<double>();
    if (std::trunc(number) == number && std::abs(number) < 0x1p63) in = static_cast<std::int64_t>(number);
  } else if (in.is_number_unsigned()) {
    return in.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  }
  return true;
}

/// By an integer the library divides integers, and drops a value's fraction before.
// NOLINTNEXTLINE(misc-no-recursion): limits::json_depth
void divide_with_fractions(nlohmann::json& in) {
  if (!in.is_structured()) return;
  for (auto& one : in) divide_with_fractions(one);
  const auto divisor = in.is_object() ? in.find("multipleOf") : in.end();
  if (divisor != in.end() && divisor->is_number()) *divisor = divisor->get<double>();
}

/// Errors: what the library says of a schema that it cannot read.
result<void> read_schema(const json::value& from, valijson::Schema& into) {
  if (from.if_object() == nullptr) return bad("the target must be a JSON schema, an object");
  if (auto fault = schema_fault(from); !fault.empty()) return bad(std::move(fault));
  try {
    auto document = nlohmann::json::parse(json::to_text(from));
    if (!settle_numbers(document)) return bad("the target has an integer beyond 2^63");
    divide_with_fractions(document);
    valijson::SchemaParser().populateSchema(NlohmannJsonAdapter(document), into);
  } catch (const std::exception& failure) {
    return bad(std::string("the target is no JSON schema: ") + failure.what());
  }
  return {};
}

class json_schema final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "json_schema"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "json_valid"; }
  [[nodiscard]] result<void> check(const task& what) const override {
    valijson::Schema schema;
    return read_schema(*what.target, schema);
  }

 private:
  /// To check a schema is to build it, which compare() does anyway.
  [[nodiscard]] result<void> usable(const task& /*what*/) const override { return {}; }

  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    return json_in(text);
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    valijson::Schema schema;
    if (auto read = read_schema(*what.target, schema); !read)
      return {.reason = read.error().message, .scored = false};
    auto document = nlohmann::json::parse(answer, nullptr, false);
    if (!settle_numbers(document))
      return {.reason = "the JSON of the reply has an integer beyond 2^63", .scored = false};
    valijson::ValidationResults found;
    try {
      valijson::Validator validator;
      auto* wanted = answer.size() <= most_explained ? &found : nullptr;
      if (validator.validate(schema, NlohmannJsonAdapter(document), wanted))
        return {.value = 1, .reason = {}};
      if (wanted == nullptr) return {.value = 0, .reason = "the JSON of the reply, a long one, is not valid"};
    } catch (const std::exception& failure) {
      return {.reason = std::string("the schema cannot be applied: ") + failure.what(), .scored = false};
    }
    valijson::ValidationResults::Error first;
    std::string where;
    if (found.popError(first)) {
      for (const auto& one : first.context) where += one;
    }
    return {.value = 0, .reason = clipped(where + ": " + first.description)};
  }

  [[nodiscard]] comparison without_answer(const task& what) const override {
    if (auto fit = check(what); !fit) return {.reason = fit.error().message, .scored = false};
    return {.value = 0, .reason = "no JSON in the reply"};
  }
};

}  // namespace

made_scorer make_json_schema(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<json_schema>();
}

}  // namespace evalcore::score
