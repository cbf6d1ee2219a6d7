// Without this the library ends the program where it has something to say.
#define VALIJSON_USE_EXCEPTIONS 1

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "score/json_text.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"
#include "score/text_scorer.hpp"

namespace evalcore::score {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

error bad(std::string why) {
  return fail(errc::bad_suite, stage::suite, "scorer json_schema: " + std::move(why));
}

/// The library matches texts by backtracking without a bound, so a text that a model wrote could hold it up
/// for ever, or overflow the stack.
bool has_pattern(const json::value& schema) {  // NOLINT(misc-no-recursion): limits::json_depth
  static constexpr auto words = std::to_array<std::string_view>({"pattern", "patternProperties", "format"});
  if (const auto* list = schema.if_array()) return std::ranges::any_of(*list, has_pattern);
  const auto* members = schema.if_object();
  return members != nullptr && std::ranges::any_of(*members, [](const auto& one) {
           // A property of such a name is an object or a boolean, not the keyword's text.
           const bool keyword = std::ranges::find(words, one.first) != words.end();
           return (keyword && (one.second.if_string() != nullptr || one.first == "patternProperties")) ||
                  has_pattern(one.second);
         });
}

/// Errors: what the library says of a schema that it cannot read.
result<void> read_schema(const json::value& from, valijson::Schema& into) {
  if (from.if_object() == nullptr) return bad("the target must be a JSON schema, an object");
  if (has_pattern(from)) {
    return bad(
        "\"pattern\", \"patternProperties\" and \"format\" are not supported; the scorer regex bounds what "
        "it does");
  }
  try {
    const auto document = nlohmann::json::parse(json::to_text(from));
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
  [[nodiscard]] result<std::optional<std::string>> extract(const task& /*what*/,
                                                           std::string_view text) const override {
    return json_in(text);
  }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    valijson::Schema schema;
    if (auto read = read_schema(*what.target, schema); !read)
      return {.value = 0, .reason = read.error().message};
    const auto document = nlohmann::json::parse(answer, nullptr, false);
    valijson::ValidationResults found;
    valijson::Validator validator;
    if (validator.validate(schema, NlohmannJsonAdapter(document), &found)) return {.value = 1, .reason = {}};
    valijson::ValidationResults::Error first;
    std::string where;
    if (found.popError(first)) {
      for (const auto& one : first.context) where += one;
    }
    return {.value = 0, .reason = clipped(where + ": " + first.description)};
  }

  [[nodiscard]] comparison without_answer(const task& /*what*/) const override {
    return {.value = 0, .reason = "no JSON in the reply"};
  }
};

}  // namespace

made_scorer make_json_schema(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<json_schema>();
}

}  // namespace evalcore::score
