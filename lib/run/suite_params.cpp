#include "run/suite_params.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/suite_members.hpp"

namespace evalcore::run {
namespace {

constexpr std::uint32_t most_top_logprobs = 20;

error bad_param(std::string_view key, std::string_view wrong) {
  return bad_line("params: " + quoted(key) + " " + std::string(wrong));
}

/// A member that is a number in a closed range.
result<std::optional<double>> number_in(const json::value& params, std::string_view key, double low,
                                        double high, const char* range) {
  const auto* found = given(params, key);
  if (found == nullptr) return std::optional<double>();
  double storage = 0;
  const auto* number = found->as_double(storage);
  if (number == nullptr || *number < low || *number > high)
    return bad_param(key, "is not " + std::string(range));
  return std::optional<double>(*number);
}

/// A member that is a whole number in a closed range.
result<std::optional<std::uint32_t>> count_in(const json::value& from, std::string_view key, std::int64_t low,
                                              std::int64_t high, const char* range) {
  const auto* found = given(from, key);
  if (found == nullptr) return std::optional<std::uint32_t>();
  const auto* count = found->if_int();
  if (count == nullptr || *count < low || *count > high)
    return bad_param(key, "is not " + std::string(range));
  return std::optional(static_cast<std::uint32_t>(*count));
}

result<std::optional<bool>> flag(const json::value& params, std::string_view key) {
  const auto* found = given(params, key);
  if (found == nullptr) return std::optional<bool>();
  const auto* set = found->if_bool();
  if (set == nullptr) return bad_param(key, "is neither true nor false");
  return std::optional(*set);
}

result<void> read_stop(const json::value& params, chat::parameters& into) {
  const auto* stop = given(params, "stop");
  if (stop == nullptr) return {};
  if (const auto* one = stop->if_string()) {
    into.stop = {*one};
    return {};
  }
  const auto* list = stop->if_array();
  const auto is_text = [](const json::value& one) { return one.if_string() != nullptr; };
  if (list == nullptr || !std::ranges::all_of(*list, is_text)) {
    return bad_param("stop", "is neither a string nor a list of strings");
  }
  for (const auto& one : *list) into.stop.push_back(*one.if_string());
  return {};
}

result<void> read_sampling(const json::value& params, chat::parameters& into) {
  constexpr auto unbounded = std::numeric_limits<std::uint32_t>::max();
  const auto temperature =
      number_in(params, "temperature", 0, std::numeric_limits<double>::max(), "a number of 0 or more");
  if (!temperature) return temperature.error();
  into.temperature = *temperature;
  const auto top_p = number_in(params, "top_p", 0, 1, "a number from 0 to 1");
  if (!top_p) return top_p.error();
  into.top_p = *top_p;
  const auto top_k = count_in(params, "top_k", 1, unbounded, "a whole number of 1 or more");
  if (!top_k) return top_k.error();
  into.top_k = *top_k;
  const auto most = count_in(params, "max_tokens", 1, unbounded, "a whole number of 1 or more");
  if (!most) return most.error();
  into.max_tokens = *most;
  if (const auto* seed = given(params, "seed")) {
    if (seed->if_int() == nullptr) return bad_param("seed", "is not a whole number of 64 bits");
    into.seed = *seed->if_int();
  }
  return read_stop(params, into);
}

result<void> read_logprobs(const json::value& params, chat::parameters& into) {
  const auto wanted = flag(params, "logprobs");
  if (!wanted) return wanted.error();
  const auto top = count_in(params, "top_logprobs", 0, most_top_logprobs, "a whole number from 0 to 20");
  if (!top) return top.error();
  if (*top && *wanted == false) return bad_param("top_logprobs", "contradicts \"logprobs\": false");
  into.logprobs = wanted->value_or(false);
  into.top_logprobs = *top;
  return {};
}

result<void> read_tool_choice(const json::value& params, chat::request& into) {
  using kind = chat::tool_choice::kind;
  constexpr std::string_view key = "tool_choice";
  const auto* found = given(params, key);
  if (found == nullptr) return {};
  if (into.tools.empty()) return bad_param(key, "speaks of tools, and the line has no \"tools\"");
  if (const auto* word = found->if_string()) {
    static constexpr std::array<std::pair<std::string_view, kind>, 3> words{
        {{"auto", kind::automatic}, {"none", kind::none}, {"required", kind::required}}};
    const auto* known = std::ranges::find(words, *word, &std::pair<std::string_view, kind>::first);
    if (known == words.end()) {
      return bad_param(key, "is " + quoted(*word) +
                                "; known are auto, none, required, "
                                "{\"type\": \"function\", \"function\": {\"name\": …}}");
    }
    into.tool_choice = chat::tool_choice{known->second};
    return {};
  }
  const auto* function = given(*found, "function");
  const auto* name = function == nullptr ? nullptr : given(*function, "name");
  if (name == nullptr || name->if_string() == nullptr) {
    return bad_param(key, "names no function: {\"type\": \"function\", \"function\": {\"name\": …}}");
  }
  if (std::ranges::find(into.tools, *name->if_string(), &chat::tool::name) == into.tools.end()) {
    return bad_param(key, "names " + quoted(*name->if_string()) + ", which the line's \"tools\" lack");
  }
  into.tool_choice = chat::tool_choice{kind::named, *name->if_string()};
  return {};
}

result<void> read_tool_use(const json::value& params, chat::request& into) {
  if (auto read = read_tool_choice(params, into); !read) return read;
  const auto parallel = flag(params, "parallel_tool_calls");
  if (!parallel) return parallel.error();
  if (*parallel && into.tools.empty()) {
    return bad_param("parallel_tool_calls", "speaks of tools, and the line has no \"tools\"");
  }
  into.parallel_tool_calls = *parallel;
  return {};
}

result<void> read_schema(const json::value& format, chat::response_format& into) {
  const std::string where = "params.response_format.json_schema";
  const auto* described = given(format, "json_schema");
  const auto* members = described == nullptr ? nullptr : described->if_object();
  if (members == nullptr)
    return bad_param("response_format", "lacks \"json_schema\": {\"name\", \"schema\"}");
  static constexpr std::array<std::string_view, 3> known{"name", "schema", "strict"};
  if (auto clean = only_known(*members, known, where); !clean) return clean;
  auto name = required_string(*described, "name", where);
  if (!name) return std::move(name).error();
  const auto* schema = given(*described, "schema");
  if (schema == nullptr || schema->if_object() == nullptr) {
    return bad_line(where + " lacks \"schema\", an object");
  }
  const auto strict = flag(*described, "strict");
  if (!strict) return strict.error();
  into = {chat::response_format::kind::json_schema, *std::move(name), json::to_text(*schema), *strict};
  return {};
}

result<void> read_format(const json::value& params, chat::parameters& into) {
  const auto* format = given(params, "response_format");
  if (format == nullptr) return {};
  const auto* type = given(*format, "type");
  const std::string word = type != nullptr && type->if_string() != nullptr ? *type->if_string() : "";
  if (word == "text") return {};
  if (word == "json_object") {
    into.format = chat::response_format{};
    return {};
  }
  if (word != "json_schema") {
    return bad_param("response_format", "has no known \"type\"; known are text, json_object, json_schema");
  }
  return read_schema(*format, into.format.emplace());
}

result<void> read_thinking(const json::value& params, chat::thinking_control& into) {
  auto effort = optional_string(params, "reasoning_effort", "params");
  if (!effort) return std::move(effort).error();
  into.effort = *std::move(effort);
  const auto* thinking = given(params, "thinking");
  if (thinking == nullptr) return {};
  const auto* members = thinking->if_object();
  const auto* type = given(*thinking, "type");
  const std::string word = type != nullptr && type->if_string() != nullptr ? *type->if_string() : "";
  if (members == nullptr || (word != "enabled" && word != "adaptive" && word != "disabled")) {
    return bad_param("thinking", "has no known \"type\"; known are enabled, adaptive, disabled");
  }
  static constexpr std::array<std::string_view, 2> known{"type", "budget_tokens"};
  if (auto clean = only_known(*members, known, "params.thinking"); !clean) return clean;
  const auto budget = count_in(*thinking, "budget_tokens", 1, std::numeric_limits<std::uint32_t>::max(),
                               "a whole number of 1 or more");
  if (!budget) return budget.error();
  into.enabled = word != "disabled";
  if (*budget && word != "enabled") {
    return bad_param("thinking", "has \"budget_tokens\", which only \"type\": \"enabled\" has");
  }
  into.budget_tokens = *budget;
  return {};
}

}  // namespace

result<void> read_params(const json::value& params, chat::request& into) {
  const auto* members = params.if_object();
  if (members == nullptr) return bad_line("\"params\" is not an object");
  static constexpr auto known = std::to_array<std::string_view>(
      {"temperature", "top_p", "top_k", "max_tokens", "seed", "stop", "tool_choice", "parallel_tool_calls",
       "response_format", "logprobs", "top_logprobs", "thinking", "reasoning_effort"});
  if (auto clean = only_known(*members, known, "params"); !clean) return clean;
  if (auto read = read_sampling(params, into.params); !read) return read;
  if (auto read = read_tool_use(params, into); !read) return read;
  if (auto read = read_format(params, into.params); !read) return read;
  if (auto read = read_logprobs(params, into.params); !read) return read;
  return read_thinking(params, into.thinking);
}

}  // namespace evalcore::run
