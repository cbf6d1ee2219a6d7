#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include <evalcore/chat/reply.hpp>

/// Reading replies through simdjson's DOM. Servers write "nothing" as an absent member or as null; here both
/// are nullopt. Everything returned lives until the parser's next document.
namespace evalcore::wire {

using simdjson::dom::element;

/// Most keys differ in their lengths or their first characters, which needs no call.
inline bool same_key(std::string_view one, std::string_view other) {
  return one.size() == other.size() && (one.empty() || one.front() == other.front()) && one == other;
}

/// Nullopt when `from` is no object, or has no such member.
inline std::optional<element> member_or_null(const element& from, std::string_view key) {
  simdjson::dom::object object;
  if (from.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  for (auto one = object.begin(), end = object.end(); one != end; ++one) {
    if (same_key(one.key(), key)) return one.value();
  }
  return std::nullopt;
}

/// The same, and nullopt when the member is null.
inline std::optional<element> member(const element& from, std::string_view key) {
  const auto found = member_or_null(from, key);
  return found && !found->is_null() ? found : std::nullopt;
}

inline std::optional<std::string_view> text_of(const std::optional<element>& from) {
  std::string_view text;
  if (!from || from->get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

inline std::optional<std::string_view> text_member(const element& from, std::string_view key) {
  return text_of(member(from, key));
}

/// A count: an integer that is not negative.
inline std::optional<std::uint64_t> count_of(const std::optional<element>& from) {
  std::uint64_t count = 0;
  if (!from || from->get_uint64().get(count) != simdjson::SUCCESS) return std::nullopt;
  return count;
}

inline std::optional<std::uint64_t> count_member(const element& from, std::string_view key) {
  return count_of(member(from, key));
}

/// member() for each of the keys, in their order. One pass over the object: most of what replies are asked
/// for, they do not have, and each absent member costs a look at all keys.
template <std::size_t count>
std::array<std::optional<element>, count> members(const element& from,
                                                  const std::string_view (&keys)[count]) {
  std::array<std::optional<element>, count> found;
  simdjson::dom::object object;
  if (from.get_object().get(object) != simdjson::SUCCESS) return found;
  for (auto one = object.begin(), end = object.end(); one != end; ++one) {
    const auto* const at = std::find_if(std::begin(keys), std::end(keys),
                                        [&](std::string_view key) { return same_key(one.key(), key); });
    if (at == std::end(keys)) continue;
    const auto value = one.value();
    if (!value.is_null()) found[static_cast<std::size_t>(at - keys)] = value;
  }
  return found;
}

/// Has a parser from read() to rest(), which is then the thread's next reader's: thousands of streams that
/// are read in turn share one, which stays in the processor's cache. Damage for which there is a rule is
/// mended and remembered: what is no character in a text becomes U+FFFD, of equal keys in one object the last
/// one stays.
class json_reader {
 public:
  json_reader() = default;
  ~json_reader();
  json_reader(json_reader&&) noexcept = default;
  json_reader& operator=(json_reader&&) noexcept = default;

  /// Nullopt for what is not JSON, or is nested deeper than the limit. A byte order mark before it is
  /// skipped.
  [[nodiscard]] std::optional<element> read(std::string_view text);

  /// Lets go of the document, for as long as there is no other.
  void rest() noexcept;

  /// Of all documents so far.
  [[nodiscard]] const chat::json_damage& damage() const noexcept { return damage_; }

 private:
  [[nodiscard]] simdjson::error_code parse(std::string_view text, element& root);

  std::unique_ptr<simdjson::dom::parser> parser_;
  chat::json_damage damage_;
};

}  // namespace evalcore::wire
