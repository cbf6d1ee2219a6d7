#include <evalcore/run/response_cache.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace evalcore::run {
namespace {

bool took(const chat::reply& given, std::string_view field) {
  return std::ranges::find(given.dropped, field) == given.dropped.end();
}

}  // namespace

bool may_stand_in(const chat::request& asked, const chat::reply& given, bool sampled) {
  if (given.finish == chat::finish_reason::content_filter || !given.refusal.empty()) return false;
  if (!asked.choices.empty()) return true;
  const bool greedy = asked.params.temperature == 0.0 && took(given, "temperature");
  return sampled || greedy || (asked.params.seed && took(given, "seed"));
}

result<std::optional<earlier_reply>> find_earlier(const response_cache& in, const std::string& cache_key,
                                                  const chat::request& asked) {
  const auto fits = [&](const chat::reply& given) { return may_stand_in(asked, given, in.sampled); };
  for (const auto* held : in.stores) {
    auto found = held->find_earlier(cache_key, fits);
    if (!found || *found) return found;
  }
  return std::optional<earlier_reply>();
}

std::string reuse_line(std::uint64_t items, std::uint64_t stored, std::uint64_t stood_in,
                       std::uint64_t sent) {
  std::string line =
      std::to_string(stored) + " of " + std::to_string(items) + " items are answered in the store and reused";
  if (stood_in > 0) line += ", " + std::to_string(stood_in) + " by replies to the same request";
  return line + "; " + std::to_string(sent) + " are sent";
}

}  // namespace evalcore::run
