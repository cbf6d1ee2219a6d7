#include "run/episode_budget.hpp"

#include <array>

namespace evalcore::run {
namespace {

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& count) {
  if (count) sum = sum.value_or(0) + *count;
}

}  // namespace

std::string_view name(episode_end why) noexcept {
  switch (why) {
    case episode_end::done:
      return "done";
    case episode_end::cancelled:
      return "cancelled";
    case episode_end::errored:
      return "errored";
    case episode_end::turns:
      return "turns";
    case episode_end::tokens:
      return "tokens";
    case episode_end::time:
      return "time";
    case episode_end::cost:
      return "cost";
    case episode_end::context:
      return "context";
  }
  return "unknown";
}

std::optional<episode_end> episode_end_from(std::string_view text) noexcept {
  using enum episode_end;
  for (const auto one : std::array{done, cancelled, errored, turns, tokens, time, cost, context}) {
    if (name(one) == text) return one;
  }
  return std::nullopt;
}

void episode_budget::sent(instant now) {
  if (!began_) began_ = now;
}

void episode_budget::replied(const chat::usage& reported) {
  use_.turns += 1;
  add(use_.prompt_tokens, reported.prompt_tokens);
  add(use_.cached_tokens, reported.cached_tokens);
  add(use_.completion_tokens, reported.completion_tokens);
}

std::optional<episode_end> episode_budget::met(instant now) const {
  if (limits_.turns && use_.turns >= *limits_.turns) return episode_end::turns;
  const auto tokens = use_.prompt_tokens.value_or(0) + use_.completion_tokens.value_or(0);
  if (limits_.tokens && tokens >= *limits_.tokens && tokens > 0) return episode_end::tokens;
  if (limits_.cost && use_.cost >= *limits_.cost) return episode_end::cost;
  if (const auto over = deadline(); over && *over <= now) return episode_end::time;
  return std::nullopt;
}

std::optional<instant> episode_budget::deadline() const {
  if (!began_ || !limits_.time) return std::nullopt;
  // A limit of years must not overflow the clock.
  return *limits_.time < instant::max() - *began_ ? std::optional(*began_ + *limits_.time) : std::nullopt;
}

}  // namespace evalcore::run
