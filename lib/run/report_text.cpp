#include "run/report_text.hpp"

#include <algorithm>
#include <cstdint>

namespace evalcore::run {
namespace {

/// What is shorter is not worth a reference.
constexpr std::size_t shared_bytes = 256;
/// How many texts back are compared, and how many fronts are kept: what a text costs is bounded.
constexpr std::size_t texts_back = 8;
constexpr std::size_t most_fronts = 64;

bool within_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

std::string_view front_of(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text;
  while (bytes > 0 && within_character(text, bytes)) --bytes;
  return text.substr(0, bytes);
}

std::string_view end_of(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text;
  auto at = text.size() - bytes;
  while (within_character(text, at)) ++at;
  return text.substr(at);
}

/// The two ends of `text`, so many bytes of each.
json::value ends_of(std::string_view text, std::size_t front, std::size_t end) {
  if (front + end >= text.size()) return text;
  const auto first = front_of(text, front);
  const auto last = end_of(text, end);
  return json::array{first, std::uint64_t{text.size() - first.size() - last.size()}, last};
}

std::size_t common_bytes(std::string_view a, std::string_view b) {
  // A block at a time: prompts that share much are long.
  constexpr std::size_t block = 64;
  const auto most = std::min(a.size(), b.size());
  std::size_t common = 0;
  while (common + block <= most && a.compare(common, block, b, common, block) == 0) common += block;
  while (common < most && a[common] == b[common]) ++common;
  return common;
}

}  // namespace

json::value cut_text(std::string_view text, std::size_t most) {
  return text.size() <= most ? json::value(text) : ends_of(text, most / 2, most / 2);
}

std::vector<json::value> cut_texts(std::span<const std::string_view> texts, std::size_t most) {
  std::size_t total = 0;
  for (const auto text : texts) total += text.size();
  std::vector<json::value> out;
  std::size_t before = 0;
  for (const auto text : texts) {
    const auto after = total - before - text.size();
    // Of all texts in one the first and the last `most` / 2 bytes stay.
    const auto within = [&](std::size_t used) { return most / 2 > used ? most / 2 - used : 0; };
    out.push_back(total <= most ? json::value(text) : ends_of(text, within(before), within(after)));
    before += text.size();
  }
  return out;
}

shared_fronts::split shared_fronts::add(std::string_view text) {
  split best{none, text};
  const auto front_bytes = [&] { return best.front == none ? 0 : fronts_[best.front].size(); };
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    if (fronts_[i].size() > front_bytes() && text.starts_with(fronts_[i])) best.front = i;
  }
  std::size_t common = 0;
  for (const auto& other : recent_) common = std::max(common, common_bytes(text, other));
  // Where questions begin alike by chance, the end of the line before is where they begin.
  const auto line = text.substr(0, common).rfind('\n');
  if (common < text.size() && line != std::string_view::npos) common = line + 1;
  const auto front = front_of(text, common);
  if (front.size() >= front_bytes() + shared_bytes && fronts_.size() < most_fronts) {
    best.front = fronts_.size();
    fronts_.emplace_back(front);
  }
  best.own = text.substr(front_bytes());
  recent_.emplace_back(text);
  if (recent_.size() > texts_back) recent_.pop_front();
  return best;
}

void shared_fronts::reset() {
  fronts_.clear();
  recent_.clear();
}

}  // namespace evalcore::run
