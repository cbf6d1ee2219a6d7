#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/json.hpp>

namespace evalcore::engine {

enum class phase : std::uint8_t { prefill, generate, complete };

/// "prefill", "generate", "complete".
[[nodiscard]] std::string_view name(phase what) noexcept;

/// How far one request has come. What is absent is unknown. Seconds have three decimals, rates (tokens per
/// second) two.
struct phase_event {
  phase what = phase::prefill;
  std::uint64_t index = 0;  ///< Of the request's events, from 0.
  double elapsed_s = 0;     ///< Since the request began.
  std::string provider;     ///< Empty: unknown.
  std::string model;        ///< Empty: unknown.

  // Once known, in every event that follows.
  std::optional<std::int64_t> prompt_tokens;  ///< Never falls.
  std::optional<std::int64_t> cached_tokens;  ///< Of the prompt, restored from a prefix cache.
  std::optional<std::int64_t> fed_tokens;     ///< Of the prompt, computed.
  std::optional<double> prompt_tokens_per_second;
  std::optional<double> ttft_s;  ///< Until the first token of the answer.

  std::int64_t generated_tokens = 0;
  std::optional<std::int64_t> prefill_processed_tokens;  ///< Of the prompt, restored ones included. Rises.
  std::optional<double> prefill_tokens_per_second;       ///< Since the first number that was seen.
  std::optional<double> tokens_per_second;               ///< From the second token of the answer on.
  bool first_token = false;
  bool final = false;         ///< Of the last event, and of no other.
  std::string finish_reason;  ///< Of the last event, if known: "stop", "length", "cancelled", …
};

/// The event as a JSON object, as subscribers in every language get it: `kind` is "llm", and a key whose
/// value is unknown is not there.
[[nodiscard]] json::value to_json(const phase_event& event);

/// Facts of a prompt as a runtime reports them. Negative numbers, NaN and infinity count as unknown.
struct prompt_facts {
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> fed_tokens;
  std::optional<double> tokens_per_second;
};

inline constexpr duration default_progress_interval = std::chrono::milliseconds(500);
/// What EVALCORE_PROGRESS_MIN_INTERVAL_S says, in seconds. Without it, and for anything but a number of 0 or
/// more: the default.
[[nodiscard]] duration progress_interval(std::optional<std::string_view> setting) noexcept;

/// Tells one subscriber how one request comes along: prefill, generation, and exactly one last event. Events
/// between come no closer than the interval, and their number has no bound. One thread at a time.
class phase_emitter {
 public:
  using subscriber = std::function<void(const phase_event&)>;

  /// Without a subscriber: does nothing.
  phase_emitter() = default;
  /// `start`: when the request began. A subscriber that throws is not called again.
  phase_emitter(subscriber listener, std::string provider, std::string model, instant start,
                duration interval = default_progress_interval);

  /// Whether anybody listens: without, facts need not be collected.
  [[nodiscard]] bool active() const noexcept { return static_cast<bool>(listener_); }

  /// The prefill begins. An event if it is the first.
  void prefill(instant now, const prompt_facts& facts = {});
  /// So many tokens of the prompt are in place, restored ones included.
  void prefill_at(instant now, std::int64_t processed, const prompt_facts& facts = {});
  /// The same from a runtime that counts only what it computes: so many of `fed_total` (absent: unknown).
  /// Where neither the restored tokens nor both totals are known, or they contradict each other: no event.
  void prefill_fed(instant now, std::int64_t fed, std::optional<std::int64_t> fed_total,
                   const prompt_facts& facts = {});
  /// So many tokens of the answer are there. `rate`: tokens per second, if the runtime measures it.
  void generation(instant now, std::int64_t generated, const prompt_facts& facts = {},
                  std::optional<double> rate = std::nullopt);
  /// The end, also of a request that failed or was cancelled. What comes after it is ignored.
  void complete(instant now, std::int64_t generated, std::string_view finish_reason,
                const prompt_facts& facts = {}, std::optional<double> rate = std::nullopt);

 private:
  void remember(const prompt_facts& facts);
  void processed(instant now, std::int64_t count);
  [[nodiscard]] bool due(instant now) const noexcept;
  [[nodiscard]] phase_event begin(phase what) const;
  void send(instant now, phase_event event);

  struct observation {
    instant at;
    std::int64_t count = 0;
  };

  subscriber listener_;
  duration interval_ = default_progress_interval;
  instant start_;
  std::optional<instant> last_sent_;
  std::optional<instant> first_token_;
  bool done_ = false;
  phase_event known_;                     ///< The facts that stay, and the index of the next event.
  std::optional<std::int64_t> observed_;  ///< Of the prompt, the most that was reported.
  std::optional<std::int64_t> told_;      ///< Of the prompt, what the last event said.
  std::optional<observation> first_observation_;
};

}  // namespace evalcore::engine
