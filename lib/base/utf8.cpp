#include <evalcore/base/utf8.hpp>

namespace evalcore {
namespace {

/// What the bytes after a first one may be; the narrower range is that of the second byte.
struct tail_rule {
  std::size_t count = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
};

/// A count of 0: no character begins so.
tail_rule tail_after(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return {.count = 1};
  if (first == 0xE0) return {.count = 2, .least = 0xA0};
  if (first == 0xED) return {.count = 2, .most = 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {.count = 2};
  if (first == 0xF0) return {.count = 3, .least = 0x90};
  if (first == 0xF4) return {.count = 3, .most = 0x8F};
  if (first >= 0xF1 && first <= 0xF3) return {.count = 3};
  return {};
}

}  // namespace

utf8_step first_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) return {1, true};
  const auto rule = tail_after(byte(0));
  if (rule.count == 0) return {1, false};
  const std::size_t whole = rule.count + 1;
  for (std::size_t at = 1; at < whole; ++at) {
    const auto least = at == 1 ? rule.least : 0x80;
    const auto most = at == 1 ? rule.most : 0xBF;
    if (at == text.size() || byte(at) < least || byte(at) > most) return {at, false};
  }
  return {whole, true};
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [bytes, valid] = first_utf8(text);
    out += valid ? text.substr(0, bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace evalcore
