#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include <evalcore/base/limits.hpp>

/// Reading replies through simdjson's DOM. Servers write "nothing" as an absent member or as null; here both
/// are nullopt. Everything returned lives until the parser's next document.
namespace evalcore::wire {

using simdjson::dom::element;

/// Nullopt when `from` is no object, or has no such member, or it is null.
inline std::optional<element> member(const element& from, std::string_view key) {
  element found;
  if (from.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

inline std::optional<std::string_view> text_of(const element& from) {
  std::string_view text;
  if (from.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

inline std::optional<std::string_view> text_member(const element& from, std::string_view key) {
  const auto found = member(from, key);
  return found ? text_of(*found) : std::nullopt;
}

/// A count: an integer that is not negative.
inline std::optional<std::uint64_t> count_member(const element& from, std::string_view key) {
  const auto found = member(from, key);
  std::uint64_t count = 0;
  if (!found || found->get_uint64().get(count) != simdjson::SUCCESS) return std::nullopt;
  return count;
}

/// One parser, used again for each document of a stream.
class json_reader {
 public:
  /// Nullopt for what is not JSON, or is nested deeper than the limit.
  std::optional<element> read(std::string_view text) {
    if (text.empty()) return std::nullopt;  // simdjson copies from a null pointer then.
    element root;
    if (text.size() > parser_.capacity() &&
        parser_.allocate(text.size(), limits::json_depth) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    if (parser_.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
    return root;
  }

 private:
  simdjson::dom::parser parser_;
};

}  // namespace evalcore::wire
