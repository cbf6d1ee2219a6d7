#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::test {

/// A reply to score and what is known of its item, as a JSON object: "target", and of "text", "calls"
/// [{"name", "arguments": "{…}"}], "functions" [{"name", "description", "parameters"}] and "category" those
/// that there are.
struct item_to_score {
  json::value whole;
  std::vector<chat::tool> tools;
  std::string category;
  chat::reply answer;

  /// Valid while this stays where it is.
  [[nodiscard]] score::task task() const { return {whole.find("target"), &tools, category}; }
  [[nodiscard]] std::string text(std::string_view key) const { return text_of(whole, key); }

  /// Absent where the line is no object with a target.
  static std::optional<item_to_score> read(std::string_view line) {
    auto parsed = json::parse(line);
    if (!parsed || parsed->find("target") == nullptr) return std::nullopt;
    item_to_score made{.whole = *std::move(parsed), .tools = {}, .category = {}, .answer = {}};
    made.category = made.text("category");
    made.answer.text = made.text("text");
    for (const auto& one : elements(made.whole, "calls")) {
      made.answer.calls.push_back({"", text_of(one, "name"), text_of(one, "arguments")});
    }
    for (const auto& one : elements(made.whole, "functions")) {
      const auto* parameters = one.find("parameters");
      made.tools.push_back({text_of(one, "name"), text_of(one, "description"),
                            parameters == nullptr ? std::string("{}") : json::to_text(*parameters)});
    }
    return made;
  }

 private:
  static std::string text_of(const json::value& object, std::string_view key) {
    const auto* member = object.find(key);
    const auto* text = member == nullptr ? nullptr : member->if_string();
    return text == nullptr ? std::string() : *text;
  }
  static json::array elements(const json::value& object, std::string_view key) {
    const auto* member = object.find(key);
    const auto* array = member == nullptr ? nullptr : member->if_array();
    return array == nullptr ? json::array() : *array;
  }
};

}  // namespace evalcore::test
