#include "wire/json_view.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/limits.hpp>
#include <evalcore/base/utf8.hpp>

namespace evalcore::wire {
namespace {

/// Keys of objects up to this size are compared one by one, those of larger ones sorted.
constexpr std::size_t few_members = 16;

/// A parser costs more to make than most replies cost to read, so one is left for the thread's next reader.
/// One that has grown for a large document is not: it holds many times that document.
constexpr std::size_t most_kept_bytes = std::size_t{64} * 1024;
thread_local std::unique_ptr<simdjson::dom::parser> spare;

using member_list = std::vector<std::pair<std::string_view, element>>;

/// The members of an object in their order, of equal keys the last.
member_list last_members(const simdjson::dom::object& from) {
  member_list all;
  for (auto one = from.begin(); one != from.end(); ++one) all.emplace_back(one.key(), one.value());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return std::pair(all[at].first, at); });
  std::vector<bool> stays(all.size(), true);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (all[order[i - 1]].first == all[order[i]].first) stays[order[i - 1]] = false;
  }
  member_list last;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (stays[i]) last.push_back(all[i]);
  }
  return last;
}

/// One bit, the same for equal keys.
std::uint64_t mark_of(std::string_view key) {
  if (key.empty()) return 1;
  constexpr unsigned bits = 64;
  const auto front = static_cast<unsigned char>(key.front());
  const auto back = static_cast<unsigned char>(key.back());
  return std::uint64_t{1} << ((front * 5U + back * 3U + key.size()) % bits);
}

/// Whether a member from `first` on has the key of `one`, which is a later one.
bool stands_before(simdjson::dom::object::iterator first, const simdjson::dom::object::iterator& one) {
  for (const auto key = one.key(); first != one; ++first) {
    if (first.key() == key) return true;
  }
  return false;
}

bool holds_others(const element& from) {
  const auto type = from.type();
  return type == simdjson::dom::element_type::OBJECT || type == simdjson::dom::element_type::ARRAY;
}

/// `from` is an object or an array. The parser's depth limit bounds the recursion.
bool repeats_a_key(const element& from) {  // NOLINT(misc-no-recursion)
  if (from.is_array()) {
    const auto elements = from.get_array().value_unsafe();
    return std::any_of(elements.begin(), elements.end(),
                       [](const element& one) { return holds_others(one) && repeats_a_key(one); });
  }
  const auto members = from.get_object().value_unsafe();
  const bool few = members.size() <= few_members;
  if (!few && last_members(members).size() < members.size()) return true;
  const auto first = members.begin();
  std::uint64_t marks = 0;  // Of the keys so far; most keys differ in theirs.
  for (auto one = first, last = members.end(); one != last; ++one) {
    const auto mark = mark_of(one.key());
    if (few && (marks & mark) != 0 && stands_before(first, one)) return true;
    marks |= mark;
    const element value = one.value();
    if (holds_others(value) && repeats_a_key(value)) return true;
  }
  return false;
}

void append_with_last_members(std::string& out, const element& from) {  // NOLINT(misc-no-recursion)
  const char* between = "";
  if (from.is_array()) {
    out += '[';
    const auto elements = from.get_array().value_unsafe();
    for (const element one : elements) {
      out += std::exchange(between, ",");
      append_with_last_members(out, one);
    }
    out += ']';
  } else if (from.is_object()) {
    out += '{';
    for (const auto& [key, one] : last_members(from.get_object().value_unsafe())) {
      out += std::exchange(between, ",");
      json::append_quoted(out, key);
      out += ':';
      append_with_last_members(out, one);
    }
    out += '}';
  } else {
    out += simdjson::minify(from);
  }
}

/// The UTF-16 unit that `text` begins to write, as \uXXXX; nullopt if it does not.
std::optional<std::uint32_t> escaped_unit(std::string_view text) {
  constexpr std::size_t length = 6;
  if (text.size() < length || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t unit = 0;
  const auto* end = text.data() + length;
  const auto [stop, wrong] = std::from_chars(text.data() + 2, end, unit, 16);
  return wrong == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

/// The JSON text with \ufffd for each escaped half of a surrogate pair that lacks the other half.
std::string replace_lone_surrogates(std::string_view text) {
  constexpr std::size_t length = 6;
  const auto half = [](std::optional<std::uint32_t> unit) { return unit ? *unit >> 10U : 0; };
  constexpr std::uint32_t high = 0xD800 >> 10U;
  constexpr std::uint32_t low = 0xDC00 >> 10U;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t taken = std::min(text.find('\\'), text.size());
    out += text.substr(0, taken);
    text.remove_prefix(taken);
    const auto which = half(escaped_unit(text));
    if (which == high && half(escaped_unit(text.substr(length))) == low) {
      taken = 2 * length;
      out += text.substr(0, taken);
    } else if (which == high || which == low) {
      taken = length;
      out += "\\ufffd";
    } else {
      taken = std::min<std::size_t>(text.size(), 2);
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

json_reader::~json_reader() { rest(); }

void json_reader::rest() noexcept {
  if (parser_ && parser_->capacity() <= most_kept_bytes) spare = std::move(parser_);
  parser_ = nullptr;
}

simdjson::error_code json_reader::parse(std::string_view text, element& root) {
  if (text.empty()) return simdjson::EMPTY;  // simdjson copies from a null pointer then.
  if (!parser_) parser_ = spare ? std::move(spare) : std::make_unique<simdjson::dom::parser>();
  if (text.size() > parser_->capacity()) {
    if (const auto failure = parser_->allocate(text.size(), limits::json_depth)) return failure;
  }
  return parser_->parse(text.data(), text.size()).get(root);
}

std::optional<element> json_reader::read(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  element root;
  chat::json_damage found;
  std::string mended;
  auto failure = parse(text, root);
  // simdjson looks at the characters of the whole text first, at the escapes later.
  if (failure == simdjson::UTF8_ERROR) {
    found.invalid_utf8 = true;
    mended = replace_invalid_utf8(text);
    failure = parse(mended, root);
  }
  if (failure == simdjson::STRING_ERROR) {
    found.lone_surrogate = true;
    mended = replace_lone_surrogates(found.invalid_utf8 ? mended : text);
    failure = parse(mended, root);
  }
  if (failure != simdjson::SUCCESS) return std::nullopt;
  if (holds_others(root) && repeats_a_key(root)) {
    found.duplicate_key = true;
    mended.clear();
    append_with_last_members(mended, root);
    if (parse(mended, root) != simdjson::SUCCESS) return std::nullopt;
  }
  damage_.duplicate_key |= found.duplicate_key;
  damage_.invalid_utf8 |= found.invalid_utf8;
  damage_.lone_surrogate |= found.lone_surrogate;
  return root;
}

}  // namespace evalcore::wire
