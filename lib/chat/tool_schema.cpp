#include <evalcore/chat/tool_schema.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/base/json.hpp>

namespace evalcore::chat {
namespace {

struct type_name {
  std::string_view declared;
  std::string_view schema;
};

// The names that BFCL's Python, Java and JavaScript files use for types.
constexpr std::array type_names{
    type_name{"dict", "object"},   type_name{"float", "number"},   type_name{"tuple", "array"},
    type_name{"list", "array"},    type_name{"any", "string"},     type_name{"bool", "boolean"},
    type_name{"byte", "integer"},  type_name{"short", "integer"},  type_name{"long", "integer"},
    type_name{"double", "number"}, type_name{"char", "string"},    type_name{"ArrayList", "array"},
    type_name{"Array", "array"},   type_name{"HashMap", "object"}, type_name{"Hashtable", "object"},
    type_name{"Queue", "array"},   type_name{"Stack", "array"},    type_name{"Any", "string"},
    type_name{"String", "string"}, type_name{"Bigint", "integer"},
};

std::optional<std::string_view> schema_type(std::string_view declared) {
  for (const auto& [from, to] : type_names) {
    if (from == declared) return to;
  }
  return std::nullopt;
}

/// Renames the types of one schema and of those inside it; says whether anything changed.
bool rename_types(json::value& schema) {  // NOLINT(misc-no-recursion): bounded by limits::json_depth
  auto* members = schema.if_object();
  if (members == nullptr) return false;
  bool changed = false;
  for (auto& [key, held] : *members) {
    if (key == "type") {
      const auto* text = held.if_string();
      if (text == nullptr) continue;
      if (const auto better = schema_type(*text)) {
        held = json::value(*better);
        changed = true;
      }
    } else if (key == "properties") {
      // A property may itself be called "type": its value is a schema, not a type name.
      if (auto* properties = held.if_object()) {
        for (auto& property : *properties) changed = rename_types(property.second) || changed;
      }
    } else if (key == "items" || key == "additionalProperties") {
      changed = rename_types(held) || changed;
    }
  }
  return changed;
}

std::string text_member(const json::value& of, std::string_view key) {
  const auto* found = of.find(key);
  const auto* text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? *text : std::string();
}

/// "a Java ArrayList whose elements are of type long".
std::string typed(const json::value& parameter, std::string_view language) {
  std::string out = std::string(language) + " " + text_member(parameter, "type");
  if (const auto* items = parameter.find("items")) {
    if (const auto inner = text_member(*items, "type"); !inner.empty())
      out += " whose elements are of type " + inner;
  }
  if (const auto* members = parameter.find("properties"))
    out += " with the members " + json::to_text(*members);
  return out;
}

void to_source_text(json::value& parameter, std::string_view language) {
  auto* members = parameter.if_object();
  if (members == nullptr) return;
  auto description = text_member(parameter, "description");
  description.append(description.empty() ? "" : " ")
      .append("A string with the source text of a value of type ");
  description += typed(parameter, language) + ".";
  std::erase_if(*members, [](const auto& one) {
    return one.first == "items" || one.first == "properties" || one.first == "type" ||
           one.first == "description";
  });
  members->emplace_back("type", "string");
  members->emplace_back("description", std::move(description));
}

}  // namespace

result<tool> with_source_text(const tool& declared, std::string_view language) {
  tool out = declared;
  auto schema = json::parse(declared.parameters);
  if (!schema || schema->if_object() == nullptr) {
    return fail(errc::bad_suite, stage::suite,
                "tool \"" + declared.name + "\": parameters is not a JSON object");
  }
  for (auto& [key, held] : *schema->if_object()) {
    if (key != "properties" || held.if_object() == nullptr) continue;
    for (auto& property : *held.if_object()) to_source_text(property.second, language);
  }
  out.parameters = json::to_text(*schema);
  return out;
}

result<tool> to_api_tool(const tool& declared) {
  tool fitting = declared;
  std::replace(fitting.name.begin(), fitting.name.end(), '.', '_');
  if (fitting.parameters.empty()) return fitting;
  auto schema = json::parse(fitting.parameters);
  if (!schema || schema->if_object() == nullptr) {
    return fail(errc::bad_suite, stage::suite,
                "tool \"" + declared.name + "\": parameters is not a JSON object");
  }
  if (rename_types(*schema)) fitting.parameters = json::to_text(*schema);
  return fitting;
}

}  // namespace evalcore::chat
