#include <evalcore/engine/phase_events.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace evalcore::engine {
namespace {

double rounded(double value, double steps) { return std::round(value * steps) / steps; }
double to_milliseconds(duration span) { return rounded(std::max(seconds(span), 0.0), 1'000); }
double to_rate(double tokens_per_second) { return rounded(tokens_per_second, 100); }

std::optional<std::int64_t> known(std::optional<std::int64_t> count) {
  return count && *count >= 0 ? count : std::nullopt;
}

/// A rate of 0 measures nothing.
std::optional<double> known(std::optional<double> rate) {
  return rate && std::isfinite(*rate) && *rate > 0 ? rate : std::nullopt;
}

template <class T>
void add(json::object& members, const char* key, const std::optional<T>& value) {
  if (value) members.emplace_back(key, *value);
}

}  // namespace

std::string_view name(phase what) noexcept {
  switch (what) {
    case phase::prefill:
      return "prefill";
    case phase::generate:
      return "generate";
    case phase::complete:
      break;
  }
  return "complete";
}

json::value to_json(const phase_event& event) {
  json::object members{
      {"kind", "llm"},
      {"phase", name(event.what)},
      {"event_index", static_cast<std::int64_t>(event.index)},
      {"elapsed_s", event.elapsed_s},
  };
  if (!event.provider.empty()) members.emplace_back("provider", event.provider);
  if (!event.model.empty()) members.emplace_back("model", event.model);
  add(members, "prompt_tokens", event.prompt_tokens);
  add(members, "cached_tokens", event.cached_tokens);
  add(members, "fed_tokens", event.fed_tokens);
  add(members, "prompt_tokens_per_second", event.prompt_tokens_per_second);
  add(members, "ttft_s", event.ttft_s);
  members.emplace_back("generated_tokens", event.generated_tokens);
  add(members, "prefill_processed_tokens", event.prefill_processed_tokens);
  add(members, "prefill_tokens_per_second", event.prefill_tokens_per_second);
  if (event.final) members.emplace_back("final", true);
  add(members, "tokens_per_second", event.tokens_per_second);
  if (event.first_token) members.emplace_back("first_token", true);
  if (!event.finish_reason.empty()) members.emplace_back("finish_reason", event.finish_reason);
  return members;
}

duration progress_interval(std::optional<std::string_view> setting) noexcept {
  constexpr double longest = 1e9;  // What a duration can hold, with room to add.
  if (!setting) return default_progress_interval;
  const char* const stop = setting->data() + setting->size();
  double value = 0;
  const auto [end, failure] = std::from_chars(setting->data(), stop, value);
  if (failure != std::errc{} || end != stop || !(value >= 0 && value <= longest)) {
    return default_progress_interval;
  }
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>(value));
}

phase_emitter::phase_emitter(subscriber listener, std::string provider, std::string model, instant start,
                             duration interval)
    : listener_(std::move(listener)), interval_(interval), start_(start) {
  known_.provider = std::move(provider);
  known_.model = std::move(model);
}

void phase_emitter::prefill(instant now, const prompt_facts& facts) {
  if (!listener_ || done_ || known_.index > 0) return;
  remember(facts);
  phase_event event = begin(phase::prefill);
  // Restored tokens are in place when the prefill begins. None at all is not told: it would look like a
  // prefill that stands still where no further number comes.
  if (known_.prompt_tokens && known_.cached_tokens.value_or(0) > 0) {
    observed_ = told_ = std::min(*known_.cached_tokens, *known_.prompt_tokens);
    event.prefill_processed_tokens = told_;
  }
  send(now, std::move(event));
}

void phase_emitter::prefill_at(instant now, std::int64_t count, const prompt_facts& facts) {
  if (!listener_ || done_ || first_token_) return;
  remember(facts);
  if (count >= 0) processed(now, count);
}

void phase_emitter::prefill_fed(instant now, std::int64_t fed, std::optional<std::int64_t> fed_total,
                                const prompt_facts& facts) {
  if (!listener_ || done_ || first_token_) return;
  remember(facts);
  if (fed < 0 || !known_.prompt_tokens) return;
  if (!known_.cached_tokens) {
    fed_total = known(fed_total);
    if (!fed_total || *known_.prompt_tokens < *fed_total) return;
    known_.cached_tokens = *known_.prompt_tokens - *fed_total;
    known_.fed_tokens = fed_total;
  }
  processed(now, *known_.cached_tokens + std::min(fed, *known_.prompt_tokens));
}

void phase_emitter::processed(instant now, std::int64_t count) {
  if (!known_.prompt_tokens) return;
  count = std::min(count, *known_.prompt_tokens);
  if (!first_observation_) first_observation_ = {now, count};
  observed_ = std::max(observed_.value_or(0), count);
  if (told_ && *observed_ <= *told_) return;
  const bool reveals_restored = !told_ && *observed_ > 0 && known_.cached_tokens.value_or(0) > 0;
  if (!reveals_restored && !due(now)) return;
  phase_event event = begin(phase::prefill);
  told_ = event.prefill_processed_tokens = observed_;
  if (*observed_ > first_observation_->count && now > first_observation_->at) {
    event.prefill_tokens_per_second = to_rate(static_cast<double>(*observed_ - first_observation_->count) /
                                              seconds(now - first_observation_->at));
  }
  send(now, std::move(event));
}

void phase_emitter::generation(instant now, std::int64_t generated, const prompt_facts& facts,
                               std::optional<double> rate) {
  if (!listener_ || done_) return;
  generated = std::max(generated, std::int64_t{0});
  remember(facts);
  const bool first = !first_token_ && generated > 0;
  if (first) {
    first_token_ = now;
    known_.ttft_s = to_milliseconds(now - start_);
  }
  if (!first && !due(now)) return;
  phase_event event = begin(phase::generate);
  event.generated_tokens = generated;
  event.first_token = first;
  // One token has no rate, and neither have several that came at once.
  if (const auto given = known(rate); given && generated > 1) {
    event.tokens_per_second = to_rate(*given);
  } else if (generated > 1 && now > *first_token_) {
    event.tokens_per_second = to_rate(static_cast<double>(generated - 1) / seconds(now - *first_token_));
  }
  send(now, std::move(event));
}

void phase_emitter::complete(instant now, std::int64_t generated, std::string_view finish_reason,
                             const prompt_facts& facts, std::optional<double> rate) {
  if (!listener_ || done_) return;
  remember(facts);
  phase_event event = begin(phase::complete);
  event.generated_tokens = std::max(generated, std::int64_t{0});
  event.final = true;
  event.finish_reason = finish_reason;
  if (const auto given = known(rate); given && generated > 1) event.tokens_per_second = to_rate(*given);
  done_ = true;
  send(now, std::move(event));
}

void phase_emitter::remember(const prompt_facts& facts) {
  // A smaller claim than before is a narrower measurement, of what was left to do perhaps, and so is the
  // rate that comes with it.
  const auto prompt = known(facts.prompt_tokens);
  const bool whole = prompt && *prompt > 0 && *prompt >= known_.prompt_tokens.value_or(0);
  if (whole) known_.prompt_tokens = prompt;
  if (const auto cached = known(facts.cached_tokens)) known_.cached_tokens = cached;
  if (const auto fed = known(facts.fed_tokens)) known_.fed_tokens = fed;
  if (const auto rate = known(facts.tokens_per_second); rate && (whole || !facts.prompt_tokens)) {
    known_.prompt_tokens_per_second = to_rate(*rate);
  }
  if (!known_.fed_tokens && known_.prompt_tokens && known_.cached_tokens) {
    known_.fed_tokens = std::max(*known_.prompt_tokens - *known_.cached_tokens, std::int64_t{0});
  }
}

bool phase_emitter::due(instant now) const noexcept { return !last_sent_ || now - *last_sent_ >= interval_; }

phase_event phase_emitter::begin(phase what) const {
  phase_event event = known_;
  event.what = what;
  return event;
}

void phase_emitter::send(instant now, phase_event event) {
  event.elapsed_s = to_milliseconds(now - start_);
  ++known_.index;
  last_sent_ = now;
  try {
    listener_(event);
  } catch (...) {
    listener_ = nullptr;  // Whoever watches must not be able to stop what is watched.
  }
}

}  // namespace evalcore::engine
