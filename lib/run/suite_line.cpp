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

constexpr std::array<std::string_view, 9> known_members = {
    "id", "messages", "prompt", "tools", "target", "scorer", "category", "params", "metadata"};

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
  if (const auto* list = given(line, "tools")) {
    auto tools = read_tools(*list, "tools");
    if (!tools) return std::move(tools).error();
    out.request.tools = *std::move(tools);
  }
  if (const auto* given_params = given(line, "params")) {
    if (auto read = read_params(*given_params, out.request); !read) return std::move(read).error();
  }
  const auto* target = given(line, "target");
  if (target == nullptr) return bad_line("lacks \"target\", the answer that is expected");
  out.target = *target;
  auto scorer = string_or(line, "scorer", "exact");
  if (!scorer) return std::move(scorer).error();
  out.scorer = *std::move(scorer);
  auto category = string_or(line, "category", "");
  if (!category) return std::move(category).error();
  out.category = *std::move(category);
  return out;
}

}  // namespace evalcore::run
