#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::json {

class value;
using array = std::vector<value>;
/// Members in the order of the text. Each key stands once.
using object = std::vector<std::pair<std::string, value>>;

/// An owned JSON value that keeps what a score or a prompt depends on: the order of members, exact 64-bit
/// integers, and the difference between 5 and 5.0.
class value {
 public:
  value() = default;
  value(std::nullptr_t) {}                                     // NOLINT: implicit by design, all of these
  value(bool flag) : state_(flag) {}                           // NOLINT
  value(std::int64_t number) : state_(number) {}               // NOLINT
  value(std::uint64_t number) : state_(number) {}              // NOLINT
  value(int number) : state_(std::int64_t{number}) {}          // NOLINT
  value(double number) : state_(number) {}                     // NOLINT
  value(std::string text) : state_(std::move(text)) {}         // NOLINT
  value(std::string_view text) : state_(std::string(text)) {}  // NOLINT
  value(const char* text) : state_(std::string(text)) {}       // NOLINT
  value(array elements) : state_(std::move(elements)) {}       // NOLINT
  value(object members) : state_(std::move(members)) {}        // NOLINT

  [[nodiscard]] bool is_null() const noexcept { return std::holds_alternative<std::monostate>(state_); }
  /// Null when the value is of another kind. A non-negative integer that fits is an int64.
  [[nodiscard]] const bool* if_bool() const noexcept { return std::get_if<bool>(&state_); }
  [[nodiscard]] const std::int64_t* if_int() const noexcept { return std::get_if<std::int64_t>(&state_); }
  /// Only integers above the range of int64.
  [[nodiscard]] const std::uint64_t* if_uint() const noexcept { return std::get_if<std::uint64_t>(&state_); }
  [[nodiscard]] const double* if_double() const noexcept { return std::get_if<double>(&state_); }
  [[nodiscard]] const std::string* if_string() const noexcept { return std::get_if<std::string>(&state_); }
  [[nodiscard]] const array* if_array() const noexcept { return std::get_if<array>(&state_); }
  [[nodiscard]] const object* if_object() const noexcept { return std::get_if<object>(&state_); }
  [[nodiscard]] array* if_array() noexcept { return std::get_if<array>(&state_); }
  [[nodiscard]] object* if_object() noexcept { return std::get_if<object>(&state_); }

  /// The member of an object; null when this is no object or has no such member.
  [[nodiscard]] const value* find(std::string_view key) const noexcept;
  /// Any of the three kinds of number as a double.
  [[nodiscard]] const double* as_double(double& storage) const noexcept;

  friend bool operator==(const value&, const value&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, array, object> state_;
};

/// What a key that an object has twice means.
enum class repeated_keys : std::uint8_t {
  last_wins,  ///< Its last value, in the place of the first, as most readers have it.
  refused,    ///< Nothing that anybody could have meant.
};

/// One JSON text (RFC 8259), nothing before or after it but white space and a byte order mark. Errors:
/// bad_reply with what is wrong and, where the parser knows it, nothing of the text itself; unsupported with
/// the key for one that is refused. NaN, Infinity, invalid UTF-8, more than limits::json_depth levels and
/// integers beyond 64 bits are refused.
[[nodiscard]] result<value> parse(std::string_view text, repeated_keys repeated = repeated_keys::last_wins);

/// The text without white space. Doubles are the shortest that read back, with ".0" when integral (as
/// Python writes them), so that a file written by Python keeps its bytes.
[[nodiscard]] std::string to_text(const value& root);
/// The text as Python's json.dumps writes it by default: ", " and ": ", non-ASCII as \uXXXX.
[[nodiscard]] std::string to_python_text(const value& root);

/// Appends `text` in quotes, escaping what JSON demands and nothing else. Invalid UTF-8 becomes U+FFFD.
void append_quoted(std::string& out, std::string_view text);
/// Appends the shortest decimal that reads back as `number`; integral values get ".0". Finite only.
void append_number(std::string& out, double number);

/// Writes objects and arrays in order, for request bodies and reports; raw() embeds JSON text untouched,
/// so that the bytes of a tool schema reach the backend as the suite has them.
class writer {
 public:
  writer() = default;
  /// `bytes`: about how long the text will be, to make room for once.
  explicit writer(std::size_t bytes) { out_.reserve(bytes); }

  writer& begin_object();
  writer& end_object();
  writer& begin_array();
  writer& end_array();
  writer& key(std::string_view name);
  writer& string(std::string_view text);
  writer& number(std::int64_t n);
  writer& number(std::uint64_t n);
  writer& number(double n);
  writer& boolean(bool flag);
  writer& null();
  writer& raw(std::string_view json_text);

  [[nodiscard]] const std::string& text() const noexcept { return out_; }
  [[nodiscard]] std::string take() noexcept { return std::move(out_); }

 private:
  void separate();
  std::string out_;
  bool fresh_ = true;
};

}  // namespace evalcore::json
