#include "score/schema_fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <evalcore/base/limits.hpp>

namespace evalcore::score {
namespace {

/// The library matches texts by backtracking without a bound, so a text that a model wrote could hold it up
/// for ever, or overflow the stack.
constexpr auto pattern_words = std::to_array<std::string_view>({"pattern", "patternProperties", "format"});

/// A JSON pointer's way (RFC 6901) of writing one character with two.
void unescape(std::string& in, std::string_view pair, char meant) {
  for (auto at = in.find(pair); at != std::string::npos; at = in.find(pair, at + 1)) {
    in[at] = meant;
    in.erase(at + 1, 1);
  }
}

/// What a JSON pointer of a `$ref` leads to; null where it leads nowhere.
const json::value* target_of(const json::value& root, std::string_view ref) {
  if (!ref.starts_with('#') || ref.find('%') != std::string_view::npos) return nullptr;
  ref.remove_prefix(1);
  while (ref.ends_with('/')) ref.remove_suffix(1);
  const auto* at = &root;
  while (!ref.empty() && at != nullptr) {
    if (ref.front() != '/') return nullptr;
    const auto end = std::min(ref.find('/', 1), ref.size());
    std::string token(ref.substr(1, end - 1));
    ref.remove_prefix(end);
    unescape(token, "~1", '/');
    unescape(token, "~0", '~');
    if (const auto* list = at->if_array()) {
      std::size_t index = 0;
      const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
      const bool there =
          read.ec == std::errc() && read.ptr == token.data() + token.size() && index < list->size();
      at = there ? &(*list)[index] : nullptr;
    } else {
      at = at->find(token);
    }
  }
  return at;
}

std::size_t levels(const json::value& of) {  // NOLINT(misc-no-recursion): limits::json_depth
  std::size_t most = 0;
  if (const auto* list = of.if_array()) {
    for (const auto& one : *list) most = std::max(most, levels(one));
  } else if (const auto* members = of.if_object()) {
    for (const auto& one : *members) most = std::max(most, levels(one.second));
  }
  return most + 1;
}

/// The library reads what a `$ref` leads to while it reads what the `$ref` stands in, on the stack. This many
/// levels of JSON take about half of a thread's 8 MB, built without optimisation.
constexpr std::size_t most_levels = 500;

class reader {
 public:
  explicit reader(const json::value& root) : root_(root), levels_(levels(root)) {}

  /// Of the value and all in it.
  std::string fault(const json::value& of) {  // NOLINT(misc-no-recursion): limits::json_depth
    if (const auto* list = of.if_array()) {
      for (const auto& one : *list) {
        if (auto found = fault(one); !found.empty()) return found;
      }
    }
    const auto* members = of.if_object();
    if (members == nullptr) return {};
    for (const auto& [key, member] : *members) {
      if (auto found = keyword_fault(key, member); !found.empty()) return found;
    }
    if (height(of, 0) > limits::json_depth) {
      return "a \"$ref\" leads back to itself, or through too many others, without a step into the value";
    }
    for (const auto& one : *members) {
      if (auto found = fault(one.second); !found.empty()) return found;
    }
    return {};
  }

 private:
  /// A property of a keyword's name is an object or a boolean, not what the keyword takes.
  [[nodiscard]] std::string keyword_fault(const std::string& key, const json::value& held) {
    if (std::ranges::find(pattern_words, key) != pattern_words.end() &&
        (held.if_string() != nullptr || key == "patternProperties")) {
      return "\"pattern\", \"patternProperties\" and \"format\" are not supported; the scorer regex bounds "
             "what it does";
    }
    double storage = 0;
    if (const auto* number = held.as_double(storage); key == "multipleOf" && number != nullptr) {
      if (*number <= 0 || *number >= 0x1p63) return "\"multipleOf\" must be above 0 and below 2^63";
    }
    const auto* text = held.if_string();
    if (text == nullptr) return {};
    if (key == "$ref") {
      const auto* target = target_of(root_, *text);
      if (target == nullptr) return "\"$ref\" must point into the schema, as \"#/definitions/x\" does";
      if (targets_.insert(target).second) levels_ += levels(*target);
      if (levels_ > most_levels) return "its \"$ref\" lead to too many schemas";
    }
    // The library heeds draft 4's word for a schema's address. It resolves a relative one again at each turn
    // of a
    // "$ref" that leads back, and never ends.
    if (key == "id" && text->find("://") == std::string::npos) relative_id_ = true;
    if (relative_id_ && !targets_.empty()) return "\"id\" beside \"$ref\" must be an absolute address";
    return {};
  }

  /// The schemas that hold for the very value which this one holds for.
  [[nodiscard]] std::vector<const json::value*> same_value(const json::value& of) const {
    if (const auto* ref = of.find("$ref"); ref != nullptr && ref->if_string() != nullptr) {
      const auto* target = target_of(root_, *ref->if_string());
      return target != nullptr ? std::vector{target} : std::vector<const json::value*>();
    }
    std::vector<const json::value*> out;
    for (const char* word : {"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}) {
      const auto* held = of.find(word);
      if (held == nullptr) continue;
      const auto* list = held->if_array();
      if (list == nullptr)
        out.push_back(held);
      else
        for (const auto& one : *list) out.push_back(&one);
    }
    const auto* dependencies = of.find("dependencies");
    if (dependencies != nullptr && dependencies->if_object() != nullptr) {
      for (const auto& one : *dependencies->if_object()) out.push_back(&one.second);
    }
    return out;
  }

  /// How many schemas stand one in the other for one value; beyond the limit where they never end.
  std::size_t height(const json::value& of, std::size_t depth) {  // NOLINT(misc-no-recursion): `endless`
    if (depth > limits::json_depth) return endless;
    const auto [known, fresh] = heights_.try_emplace(&of, endless);
    if (!fresh) return known->second;
    std::size_t most = 0;
    for (const auto* one : same_value(of)) {
      most = std::max(most, height(*one, depth + 1));
      if (most > limits::json_depth) return endless;
    }
    return heights_[&of] = most + 1;
  }

  static constexpr std::size_t endless = limits::json_depth + 1;
  const json::value& root_;
  std::size_t levels_;  ///< Of the schema and of each that a `$ref` leads to.
  std::unordered_set<const json::value*> targets_;
  bool relative_id_ = false;
  std::unordered_map<const json::value*, std::size_t> heights_;
};

}  // namespace

std::string schema_fault(const json::value& schema) { return reader(schema).fault(schema); }

}  // namespace evalcore::score
