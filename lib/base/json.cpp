#include <evalcore/base/json.hpp>

#include <simdjson.h>

#include <limits>
#include <optional>
#include <unordered_map>

#include <evalcore/base/limits.hpp>

namespace evalcore::json {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

/// Objects up to this many members are searched, larger ones indexed.
constexpr std::size_t searched_members = 16;
constexpr std::size_t shown_key_bytes = 80;

/// Builds an object in which the last of two equal keys wins, in linear time.
class object_builder {
 public:
  /// Whether the key is a new one.
  bool put(std::string_view key, value&& one) {
    if (value* held = find(key)) {
      *held = std::move(one);
      return false;
    }
    members_.emplace_back(std::string(key), std::move(one));
    if (!places_.empty()) places_.emplace(key, members_.size() - 1);
    return true;
  }
  object take() { return std::move(members_); }

 private:
  value* find(std::string_view key) {
    if (members_.size() <= searched_members) {
      for (auto& [name, held] : members_) {
        if (name == key) return &held;
      }
      return nullptr;
    }
    if (places_.empty()) {
      for (std::size_t i = 0; i < members_.size(); ++i) places_.emplace(members_[i].first, i);
    }
    const auto place = places_.find(std::string(key));
    return place == places_.end() ? nullptr : &members_[place->second].second;
  }

  object members_;
  std::unordered_map<std::string, std::size_t> places_;
};

class converter {
 public:
  // The parser's own depth limit bounds the recursion.
  value convert(const element& from) {  // NOLINT(misc-no-recursion)
    switch (from.type()) {
      case element_type::ARRAY: {
        array out;
        const auto elements = from.get_array().value_unsafe();
        out.reserve(elements.size());
        for (const element one : elements) out.push_back(convert(one));
        return out;
      }
      case element_type::OBJECT: {
        object_builder out;
        const auto members = from.get_object().value_unsafe();
        for (const auto& [key, one] : members) {
          if (!out.put(key, convert(one)) && !repeated_) repeated_ = std::string_view(key);
        }
        return out.take();
      }
      case element_type::INT64:
        return from.get_int64().value_unsafe();
      case element_type::UINT64:
        return from.get_uint64().value_unsafe();
      case element_type::DOUBLE:
        return from.get_double().value_unsafe();
      case element_type::STRING:
        return std::string_view(from.get_string().value_unsafe());
      case element_type::BOOL:
        return from.get_bool().value_unsafe();
      case element_type::NULL_VALUE:
        break;
    }
    return nullptr;
  }
  /// A key that some object has twice. Belongs to the parser.
  [[nodiscard]] const std::optional<std::string_view>& repeated() const noexcept { return repeated_; }

 private:
  std::optional<std::string_view> repeated_;
};

}  // namespace

const value* value::find(std::string_view key) const noexcept {
  if (const auto* members = if_object()) {
    for (const auto& [name, held] : *members) {
      if (name == key) return &held;
    }
  }
  return nullptr;
}

const double* value::as_double(double& storage) const noexcept {
  if (const auto* real = if_double()) return real;
  if (const auto* number = if_int()) {
    storage = static_cast<double>(*number);
    return &storage;
  }
  if (const auto* big = if_uint()) {
    storage = static_cast<double>(*big);
    return &storage;
  }
  return nullptr;
}

result<value> parse(std::string_view text, repeated_keys repeated) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  if (text.empty()) return fail(errc::bad_reply, stage::decode, "there is no JSON in an empty text");
  simdjson::dom::parser parser(std::numeric_limits<std::uint32_t>::max());
  if (const auto failure = parser.allocate(text.size(), limits::json_depth)) {
    return fail(failure == simdjson::MEMALLOC ? errc::no_memory : errc::bad_reply, stage::decode,
                simdjson::error_message(failure));
  }
  element root;
  if (const auto failure = parser.parse(text.data(), text.size()).get(root)) {
    return fail(errc::bad_reply, stage::decode, simdjson::error_message(failure));
  }
  converter reads;
  auto read = reads.convert(root);
  if (repeated == repeated_keys::refused && reads.repeated()) {
    std::string name;
    append_quoted(name, reads.repeated()->substr(0, shown_key_bytes));
    return fail(errc::unsupported, stage::decode, "one object has " + name + " twice");
  }
  return read;
}

}  // namespace evalcore::json
