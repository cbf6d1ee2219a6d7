#include "run/suite_line.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "run/suite_chat.hpp"
#include "run/suite_members.hpp"
#include "run/suite_params.hpp"

namespace evalcore::run {
namespace {

result<std::string> string_or(const json::value& line, std::string_view key, std::string fallback) {
  const auto* found = given(line, key);
  if (found == nullptr) return fallback;
  if (const auto* text = found->if_string(); text != nullptr && !text->empty()) return *text;
  return bad_line("\"" + std::string(key) + "\" is not a string with something in it");
}

result<std::vector<chat::message>> read_prompt(const json::value& line) {
  const auto* messages = given(line, "messages");
  const auto* prompt = given(line, "prompt");
  if (messages != nullptr && prompt != nullptr)
    return bad_line("has both \"messages\" and \"prompt\"; give one");
  if (messages != nullptr) return read_messages(*messages, "messages");
  if (prompt == nullptr) return bad_line("lacks \"messages\" or \"prompt\"");
  const auto* text = prompt->if_string();
  if (text == nullptr) return bad_line("\"prompt\" is not a string");
  chat::message turn;
  turn.text = *text;
  return std::vector<chat::message>{std::move(turn)};
}

/// A name, or an object with a name and options, as find_scorer() takes them; `name` is the name.
result<std::string> read_scorer(const json::value& line, std::string fallback, std::string& name) {
  const auto* found = given(line, "scorer");
  const auto* members = found != nullptr ? found->if_object() : nullptr;
  if (members == nullptr) {
    auto text = string_or(line, "scorer", std::move(fallback));
    if (text) name = *text;
    return text;
  }
  auto named = required_string(*found, "name", "\"scorer\"");
  if (!named) return named;
  name = *named;
  return members->size() == 1 ? *std::move(named) : json::to_text(*found);
}

constexpr std::array<std::string_view, 10> known_members = {
    "id", "messages", "prompt", "choices", "tools", "target", "scorer", "category", "params", "metadata"};

/// A misspelt member would change a score without a word.
result<void> only_known_members(const json::value& line) {
  for (const auto& [name, held] : *line.if_object()) {
    if (std::ranges::find(known_members, name) == known_members.end()) {
      std::string named;
      json::append_quoted(named, name);
      return bad_line("unknown member " + named + "; data of your own has its place under \"metadata\"");
    }
  }
  return {};
}

/// Of a line that is scored by likelihood.
result<void> generates_nothing(const json::value& line, const std::string& scored) {
  for (const auto* other : {"messages", "tools", "params"}) {
    if (given(line, other) != nullptr)
      return bad_line(scored + " a \"prompt\", and nothing is generated: \"" + std::string(other) +
                      "\" has no place beside them");
  }
  return {};
}

/// The text whose likelihood is measured.
result<std::vector<std::string>> read_measured(const json::value& line) {
  if (auto fit = generates_nothing(line, "the target of the scorer \"perplexity\" follows"); !fit)
    return std::move(fit).error();
  const auto* target = given(line, "target");
  const auto* text = target != nullptr ? target->if_string() : nullptr;
  if (text == nullptr || text->empty())
    return bad_line("\"target\" is no string with something in it, whose likelihood \"perplexity\" measures");
  return std::vector{*text};
}

/// With `compared` to find the likeliest.
result<std::vector<std::string>> read_choices(const json::value& line, bool compared) {
  if (auto fit = generates_nothing(line, "\"choices\" follow"); !fit) return std::move(fit).error();
  const auto* list = given(line, "choices")->if_array();
  std::vector<std::string> choices;
  for (const auto& one : list != nullptr ? *list : json::array()) {
    const auto* text = one.if_string();
    if (!compared && text != nullptr && !text->empty()) {
      choices.push_back(*text);
      continue;
    }
    if (text == nullptr || text->find_first_not_of(" \t\r\n") == std::string::npos)
      return bad_line("\"choices\" has an element that is no string with more than blanks in it");
    if (std::ranges::find(choices, *text) != choices.end())
      return bad_line("\"choices\" has " + quoted(*text) + " twice");
    choices.push_back(*text);
  }
  if (compared && choices.size() < 2) return bad_line("\"choices\" is not a list of two strings or more");
  if (choices.empty()) return bad_line("\"choices\" is not a list of strings");
  return choices;
}

}  // namespace

result<std::string> read_id(const json::value& line) {
  if (line.if_object() == nullptr) return bad_line("not a JSON object");
  const auto* id = given(line, "id");
  if (id == nullptr) return bad_line("lacks \"id\"");
  if (const auto* number = id->if_int()) return std::to_string(*number);
  if (const auto* text = id->if_string(); text != nullptr && !text->empty()) return *text;
  return bad_line("\"id\" is neither a string with something in it nor a whole number of 64 bits");
}

result<item> plain_item(const json::value& line) {
  item out;
  auto id = read_id(line);
  if (!id) return std::move(id).error();
  if (auto known = only_known_members(line); !known) return std::move(known).error();
  out.id = *std::move(id);
  auto messages = read_prompt(line);
  if (!messages) return std::move(messages).error();
  out.request.messages = *std::move(messages);
  const bool chooses = given(line, "choices") != nullptr;
  std::string name;
  auto scorer = read_scorer(line, chooses ? "choice" : "exact", name);
  if (!scorer) return std::move(scorer).error();
  out.scorer = *std::move(scorer);
  const bool scored = name != "none";
  if (chooses && scored && name != "choice" && name != "brier")
    return bad_line("\"choices\" are for the scorers \"choice\" and \"brier\", not for " + quoted(name));
  if (chooses) {
    auto choices = read_choices(line, scored);
    if (!choices) return std::move(choices).error();
    out.request.choices = *std::move(choices);
  }
  if (name == "perplexity") {
    auto measured = read_measured(line);
    if (!measured) return std::move(measured).error();
    out.request.choices = *std::move(measured);
  }
  if (const auto* list = given(line, "tools")) {
    auto tools = read_tools(*list, "tools");
    if (!tools) return std::move(tools).error();
    out.request.tools = *std::move(tools);
  }
  if (const auto* given_params = given(line, "params")) {
    if (auto read = read_params(*given_params, out.request); !read) return std::move(read).error();
  }
  const auto* target = given(line, "target");
  if (target == nullptr && scored) return bad_line("lacks \"target\", the answer that is expected");
  if (target != nullptr) out.target = *target;
  auto category = string_or(line, "category", "");
  if (!category) return std::move(category).error();
  out.category = *std::move(category);
  return out;
}

}  // namespace evalcore::run
