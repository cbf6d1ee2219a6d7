#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <evalcore/chat/reply.hpp>

/// Reading replies through simdjson's DOM. Servers write "nothing" as an absent member or as null; here both
/// are nullopt. Everything returned lives until the parser's next document.
namespace evalcore::wire {

using simdjson::dom::element;

/// Nullopt when `from` is no object, or has no such member.
inline std::optional<element> member_or_null(const element& from, std::string_view key) {
  element found;
  if (from.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

/// The same, and nullopt when the member is null.
inline std::optional<element> member(const element& from, std::string_view key) {
  const auto found = member_or_null(from, key);
  return found && !found->is_null() ? found : std::nullopt;
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
