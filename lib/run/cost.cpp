#include <evalcore/run/cost.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include <evalcore/run/prepare.hpp>

namespace evalcore::run {
namespace {

constexpr pico_usd largest = std::numeric_limits<pico_usd>::max();

pico_usd plus(pico_usd a, pico_usd b) noexcept { return a > largest - b ? largest : a + b; }

/// Tokens of which it is not known which of two prices they have.
cost between(std::uint64_t tokens, pico_usd low, pico_usd high) noexcept {
  return {times(low, tokens), times(high, tokens)};
}
cost exactly(std::uint64_t tokens, pico_usd each) noexcept { return between(tokens, each, each); }

pico_usd dearest_input(const price& at) noexcept { return std::max({at.input, at.cached, at.cache_write}); }
pico_usd dearest_output(const price& at) noexcept { return std::max(at.output, at.reasoning); }

/// Beyond this no model has a context; such a count, of a server that goes below 0 for one, tells nothing.
constexpr std::uint64_t most_tokens = 1'000'000'000;

std::optional<std::uint64_t> believed(const std::optional<std::uint64_t>& count) noexcept {
  return count && *count <= most_tokens ? count : std::nullopt;
}

cost prompt_cost(const chat::usage& used, const price& at) noexcept {
  const auto cached = used.cached_tokens.value_or(0);
  const auto written = used.cache_write_tokens.value_or(0);
  cost sum = exactly(cached, at.cached);
  sum += exactly(written, at.cache_write);
  if (!used.prompt_tokens) return {sum.least, std::nullopt};
  const auto whole = *used.prompt_tokens;
  if (cached > whole || written > whole - cached) {  // One of the counts is wrong.
    return {times(std::min({at.input, at.cached, at.cache_write}), whole),
            plus(sum.least, times(dearest_input(at), whole))};
  }
  auto low = at.input;
  auto high = at.input;
  const auto may_be = [&](pico_usd other) {
    low = std::min(low, other);
    high = std::max(high, other);
  };
  if (!used.cached_tokens) may_be(at.cached);
  if (!used.cache_write_tokens) may_be(at.cache_write);
  sum += between(whole - cached - written, low, high);
  return sum;
}

cost completion_cost(const chat::usage& used, const price& at) noexcept {
  const auto low = std::min(at.output, at.reasoning);
  const auto high = dearest_output(at);
  if (!used.completion_tokens) return {times(at.reasoning, used.reasoning_tokens.value_or(0)), std::nullopt};
  const auto whole = *used.completion_tokens;
  if (!used.reasoning_tokens) return between(whole, low, high);
  const auto thought = *used.reasoning_tokens;
  // Some servers count reasoning apart.
  if (thought > whole) return {times(low, whole), plus(times(high, whole), times(high, thought))};
  cost sum = exactly(thought, at.reasoning);
  sum += exactly(whole - thought, at.output);
  return sum;
}

}  // namespace

pico_usd times(pico_usd each, std::uint64_t tokens) noexcept {
  return tokens != 0 && each > largest / tokens ? largest : each * tokens;
}

cost& cost::operator+=(const cost& other) noexcept {
  least = plus(least, other.least);
  if (most && other.most) {
    most = plus(*most, *other.most);
  } else {
    most.reset();
  }
  return *this;
}

cost cost_of(const chat::usage& used, const price& at) noexcept {
  const chat::usage told{.prompt_tokens = believed(used.prompt_tokens),
                         .cached_tokens = believed(used.cached_tokens),
                         .completion_tokens = believed(used.completion_tokens),
                         .reasoning_tokens = believed(used.reasoning_tokens),
                         .cache_write_tokens = believed(used.cache_write_tokens)};
  cost sum = prompt_cost(told, at);
  sum += completion_cost(told, at);
  return sum;
}

std::optional<pico_usd> cost_bound(const chat::request& of, std::optional<std::uint64_t> prompt_tokens,
                                   const price& at) {
  const bool chooses = !of.choices.empty();
  // A server is asked for each choice by itself, and some generate the one token that it may.
  const auto answer = chooses ? static_cast<std::uint32_t>(of.choices.size()) : of.params.max_tokens;
  if (!answer) return std::nullopt;
  const bool images =
      std::ranges::any_of(of.messages, [](const auto& turn) { return !turn.image_urls.empty(); });
  if (images) return std::nullopt;
  const std::uint64_t prompt = prompt_tokens ? *prompt_tokens : canonical_text(of).size();
  // A choice may cut the end of the prompt into other tokens: then it is computed behind a prompt of its own.
  const std::uint64_t prompts = chooses ? of.choices.size() : 1;
  return plus(times(times(dearest_input(at), prompt), prompts), times(dearest_output(at), *answer));
}

bool may_be_billed(const error& failure) noexcept {
  switch (failure.code) {
    case errc::rate_limited:
    case errc::overloaded:
    case errc::invalid_request:
    case errc::context_overflow:
    case errc::auth:
    case errc::quota:
      return false;
    default:
      return failure.at != stage::connect && failure.at != stage::start && failure.at != stage::config;
  }
}

cost cost_of(const result<chat::reply>& outcome, std::optional<pico_usd> bound, const price& at) {
  if (!outcome) return may_be_billed(outcome.error()) ? cost{0, bound} : cost{};
  auto told = cost_of(outcome->usage, at);
  if (!told.most && bound) told.most = std::max(*bound, told.least);
  return told;
}

std::string usd_text(pico_usd amount) {
  const double usd = in_usd(amount);
  int digits = 4;
  if (amount > 0 && usd < 0.01) digits = std::min(12, 2 - static_cast<int>(std::floor(std::log10(usd))));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, usd);
  return std::string(text.data()) + " USD";
}

std::string usd_text(const cost& amount) {
  if (amount.exact()) return usd_text(amount.least);
  if (!amount.most) return "at least " + usd_text(amount.least);
  auto low = usd_text(amount.least);
  low.resize(low.size() - std::string_view(" USD").size());
  return low + " to " + usd_text(*amount.most);
}

}  // namespace evalcore::run
