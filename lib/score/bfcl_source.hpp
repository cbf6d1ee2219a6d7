#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <evalcore/chat/call_text.hpp>

#include "score/pattern.hpp"

namespace evalcore::score {

// What the readers of values in Java and JavaScript share.

inline chat::python_value text_value(std::string_view text) { return chat::python_value(std::string(text)); }

/// A pattern that is known to compile.
inline pattern known(std::string_view text, bool dot_all = false) {
  return *pattern::compile_backtracking(text, {.dot_all = dot_all});
}

/// Where the bound on steps is reached, nothing is found: the text then stays a text, as it does in any
/// form that is not known.
inline std::optional<pattern::match> first(const pattern& what, std::string_view in) {
  auto found = what.find(in);
  return found ? *std::move(found) : std::nullopt;
}

inline std::string_view without_last(std::string_view text) { return text.substr(0, text.size() - 1); }

/// A line end behind the value passes BFCL's patterns.
inline std::string_view without_line_end(std::string_view text) {
  return text.ends_with('\n') ? without_last(text) : text;
}

/// A dict of texts' values in the order in which the keys came first, in linear time.
class source_dict {
 public:
  /// The last value of a key stands. The key is a piece of a text that outlives this.
  void put(std::string_view key, chat::python_value value) {
    const auto [held, is_new] = places_.try_emplace(key, out_.items.size());
    if (is_new) {
      out_.items.emplace_back(text_value(key), std::move(value));
    } else {
      out_.items[held->second].second = std::move(value);
    }
  }
  [[nodiscard]] chat::python_value take() && { return chat::python_value(std::move(out_)); }

 private:
  chat::python_value::dict out_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

}  // namespace evalcore::score
