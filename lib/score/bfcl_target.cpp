#include "score/bfcl_target.hpp"

#include <array>

#include <evalcore/score/bfcl.hpp>

namespace evalcore::score {
namespace {

error bad(std::string message) {
  return fail(errc::bad_suite, stage::suite, "scorer bfcl: " + std::move(message));
}
constexpr const char* wanted =
    "the target must be a list of calls, each {function: {parameter: [accepted values]}}";

error not_built(std::string_view what) { return bad("not supported yet: " + std::string(what)); }

const chat::tool* find_tool(const task& what, std::string_view name) {
  if (what.tools == nullptr) return nullptr;
  for (const auto& one : *what.tools) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string_view word_of(const json::value* schema) {
  const auto* type = schema == nullptr ? nullptr : schema->find("type");
  const auto* word = type == nullptr ? nullptr : type->if_string();
  return word == nullptr ? std::string_view() : std::string_view(*word);
}

result<declared_type> read_type(chat::call_language in, const json::value& schema, const std::string& where) {
  declared_type out;
  out.word = word_of(&schema);
  const auto outer = type_for(in, out.word);
  if (!outer) {
    return bad(where + " has type \"" + out.word + "\"; known are " + known_types(in));
  }
  out.outer = *outer;
  if (!is_list_of(in, out.word)) return out;
  out.nested_word = word_of(schema.find("items"));
  out.nested = type_for(in, out.nested_word);
  if (!out.nested) {
    return bad(where + " has items of type \"" + out.nested_word + "\"; known are " + known_types(in));
  }
  return out;
}

result<void> read_declaration(chat::call_language in, const chat::tool& tool, expected_call& out) {
  const auto schema = json::parse(tool.parameters);
  const auto* properties = schema ? schema->find("properties") : nullptr;
  if (properties == nullptr || properties->if_object() == nullptr) {
    return bad("the parameters of function " + tool.name + " have no \"properties\" object");
  }
  if (const auto* required = schema->find("required")) {
    const auto* names = required->if_array();
    for (const auto& one : names == nullptr ? json::array{json::value()} : *names) {
      const auto* name = one.if_string();
      if (name == nullptr) return bad("\"required\" of function " + tool.name + " is not a list of names");
      out.required.push_back(*name);
    }
  }
  for (const auto& [name, schema_of_one] : *properties->if_object()) {
    if (out.accepted_for(name) == nullptr) continue;
    auto type = read_type(in, schema_of_one, "parameter " + name + " of function " + tool.name);
    if (!type) return std::move(type).error();
    out.parameters.emplace(name, *std::move(type));
  }
  return {};
}

result<void> read_accepted(const json::value& call, expected_call& out) {
  const auto* members = call.if_object();
  if (members == nullptr || members->size() != 1 || members->front().second.if_object() == nullptr) {
    return bad(wanted);
  }
  out.function = members->front().first;
  for (const auto& [name, values] : *members->front().second.if_object()) {
    const auto* list = values.if_array();
    if (list == nullptr) return bad("the target's parameter " + name + " has no list of accepted values");
    std::vector<chat::python_value> accepted;
    for (const auto& value : *list) accepted.push_back(chat::from_json(value));
    out.accepted.emplace_back(name, std::move(accepted));
  }
  return {};
}

}  // namespace

python_type type_of(const chat::python_value& value) noexcept {
  using kind = chat::python_value;
  struct visitor {
    python_type operator()(const kind::none&) const { return python_type::none; }
    python_type operator()(bool) const { return python_type::boolean; }
    python_type operator()(std::int64_t) const { return python_type::integer; }
    python_type operator()(const kind::big_int&) const { return python_type::integer; }
    python_type operator()(double) const { return python_type::floating; }
    python_type operator()(const std::string&) const { return python_type::string; }
    python_type operator()(const kind::list&) const { return python_type::list; }
    python_type operator()(const kind::tuple&) const { return python_type::tuple; }
    python_type operator()(const kind::dict&) const { return python_type::dict; }
  };
  return std::visit(visitor{}, value.state);
}

std::string_view name(python_type type) noexcept {
  switch (type) {
    case python_type::none:
      return "NoneType";
    case python_type::boolean:
      return "bool";
    case python_type::integer:
      return "int";
    case python_type::floating:
      return "float";
    case python_type::string:
      return "str";
    case python_type::list:
      return "list";
    case python_type::tuple:
      return "tuple";
    case python_type::dict:
      return "dict";
  }
  return "object";
}

const std::vector<chat::python_value>* expected_call::accepted_for(
    std::string_view parameter) const noexcept {
  for (const auto& [name, values] : accepted) {
    if (name == parameter) return &values;
  }
  return nullptr;
}

result<expected_calls> read_expected(const task& what) {
  static constexpr std::array<std::string_view, 3> missing{"multi_turn", "memory", "web_search"};
  for (const auto word : missing) {
    if (what.category.find(word) != std::string_view::npos) return not_built(word);
  }
  expected_calls out;
  out.language = bfcl_language(what.category);
  if (what.category.ends_with("relevance")) {
    using enum expected_calls::kind;
    out.what = what.category.ends_with("irrelevance") ? no_call : some_call;
    return out;
  }
  const auto* calls = what.target->if_array();
  if (calls == nullptr || calls->empty()) return bad(wanted);
  for (const auto& call : *calls) {
    auto& one = out.calls.emplace_back();
    if (auto read = read_accepted(call, one); !read) return std::move(read).error();
    const auto* tool = find_tool(what, one.function);
    if (tool == nullptr) return bad("the target calls " + one.function + ", which is not among the tools");
    if (auto read = read_declaration(out.language, *tool, one); !read) return std::move(read).error();
  }
  return out;
}

}  // namespace evalcore::score
