#include "run/reply_line.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "run/suite_members.hpp"

namespace evalcore::run {
namespace {

result<void> read_finish(const json::value& line, chat::reply& into) {
  using enum chat::finish_reason;
  auto word = optional_string(line, "finish", "the reply");
  if (!word) return std::move(word).error();
  into.finish = into.calls.empty() ? stop : tool_calls;
  into.finish_raw = *word;
  if (word->empty()) return {};
  for (const auto one : {stop, length, tool_calls, content_filter, other}) {
    if (chat::name(one) != *word) continue;
    into.finish = one;
    return {};
  }
  return bad_line("\"finish\" is " + quoted(*word) +
                  "; known are stop, length, tool_calls, content_filter, other");
}

result<std::string> arguments_of(const json::value* held) {
  if (held == nullptr || held->is_null()) return std::string("{}");
  if (const auto* text = held->if_string()) return *text;
  if (held->if_object() != nullptr) return json::to_text(*held);
  return bad_line("a call's \"arguments\" are neither an object nor its text");
}

result<void> read_calls(const json::value& line, chat::reply& into) {
  const auto* found = given(line, "calls");
  if (found == nullptr) return {};
  const auto* list = found->if_array();
  if (list == nullptr) return bad_line("\"calls\" is not a list");
  for (const auto& one : *list) {
    auto name = required_string(one, "name", "a call");
    if (!name) return std::move(name).error();
    auto arguments = arguments_of(one.find("arguments"));
    if (!arguments) return std::move(arguments).error();
    into.calls.push_back({"", *std::move(name), *std::move(arguments)});
  }
  return {};
}

/// A text, or a list of {function: arguments}.
result<void> read_bfcl_result(const json::value& held, chat::reply& into) {
  if (const auto* text = held.if_string()) {
    into.text = *text;
    return {};
  }
  const auto* list = held.if_array();
  if (list == nullptr) return bad_line("\"result\" is neither a text nor a list of calls");
  for (const auto& call : *list) {
    const auto* members = call.if_object();
    if (members == nullptr || members->size() != 1) {
      return bad_line("\"result\" has an element that is not {function: arguments}");
    }
    auto arguments = arguments_of(&members->front().second);
    if (!arguments) return std::move(arguments).error();
    into.calls.push_back({"", members->front().first, *std::move(arguments)});
  }
  return {};
}

/// What BFCL's own handlers write in the place of an answer when the inference raises.
bool failed_inference(const json::value& line, const json::value& held) {
  const auto* text = held.if_string();
  return given(line, "traceback") != nullptr ||
         (text != nullptr && text->starts_with("Error during inference:"));
}

result<void> read_choices(const json::value& line, chat::reply& into) {
  const auto* found = given(line, "choices");
  if (found == nullptr) return {};
  const auto* list = found->if_array();
  for (const auto& one : list != nullptr ? *list : json::array{json::value()}) {
    const auto* sum = one.if_object() != nullptr ? one.find("sum_logprob") : &one;
    double storage = 0;
    const auto* number = sum != nullptr ? sum->as_double(storage) : nullptr;
    if (number == nullptr) return bad_line("\"choices\" is not a list of sums of logprobs");
    const auto* greedy = one.if_object() != nullptr ? one.find("is_greedy") : nullptr;
    const auto* told = greedy != nullptr ? greedy->if_bool() : nullptr;
    into.choices.push_back(
        {.sum_logprob = *number, .is_greedy = told != nullptr ? std::optional(*told) : std::nullopt});
  }
  return {};
}

}  // namespace

result<std::optional<chat::reply>> reply_of_line(const json::value& line) {
  static constexpr auto known =
      std::to_array<std::string_view>({"id", "text", "calls", "finish", "reasoning", "refusal", "choices"});
  chat::reply out;
  if (const auto* result = given(line, "result")) {
    if (failed_inference(line, *result)) return std::optional<chat::reply>();
    if (auto read = read_bfcl_result(*result, out); !read) return std::move(read).error();
    out.finish = out.calls.empty() ? chat::finish_reason::stop : chat::finish_reason::tool_calls;
    return std::optional(std::move(out));
  }
  if (auto clean = only_known(*line.if_object(), known, "the reply"); !clean) return std::move(clean).error();
  for (const auto& [key, into] :
       {std::pair("text", &out.text), {"reasoning", &out.reasoning}, {"refusal", &out.refusal}}) {
    auto text = optional_string(line, key, "the reply");
    if (!text) return std::move(text).error();
    *into = *std::move(text);
  }
  if (auto read = read_calls(line, out); !read) return std::move(read).error();
  if (auto read = read_choices(line, out); !read) return std::move(read).error();
  if (auto read = read_finish(line, out); !read) return std::move(read).error();
  if (given(line, "text") == nullptr && out.calls.empty() && out.choices.empty() && out.refusal.empty()) {
    return bad_line("lacks \"text\", \"calls\" or \"choices\"");
  }
  return std::optional(std::move(out));
}

}  // namespace evalcore::run
