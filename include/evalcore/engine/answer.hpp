#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// How far the prompt is. Only for a request that watches its prefill, and none after the first token.
struct prefill_seen {
  std::uint32_t processed = 0;  ///< Tokens of the prompt, restored ones included.
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;  ///< Of the prompt, how many were restored.
};

/// One token of an answer.
struct piece {
  token id = 0;
  /// What may be shown: maybe empty, maybe half a character, and never a part of a stop string. What was held
  /// back because it might have become one comes with a later piece.
  std::string text;
  std::optional<float> logprob;  ///< If asked for.
  std::vector<likely> top;       ///< If asked for.
};

using record = std::variant<prefill_seen, piece>;

/// How a request was run.
enum class run_mode : std::uint8_t {
  continuous,  ///< Together with others, which came and went.
  exclusive,   ///< Alone.
};
[[nodiscard]] std::string_view name(run_mode how) noexcept;

struct execution {
  run_mode mode = run_mode::continuous;
  std::uint32_t peak_batch_size = 1;  ///< Rows of the largest tensor batch that its row was in.
  duration queued = {};               ///< From submission to the end of its wait.
  std::optional<duration> ttft;       ///< From submission to the first token; absent: there was none.
  std::optional<double> prompt_tokens_per_second;      ///< Of the tokens that were computed.
  std::optional<double> generation_tokens_per_second;  ///< After the first.
  /// Bytes, the most that the process had until the answer was read; absent: unknown.
  std::optional<std::uint64_t> peak_memory;
};

/// What the prefix cache did for a request with a cache key.
struct prefix_use {
  std::string key;
  std::string degraded_reason;  ///< degraded_reason(): why its prefix was not kept; empty: nothing to say.
  bool first_report = false;    ///< It is the first with its key to say so: a host that logs, logs this one.
};

/// A whole answer, without the text that went before in pieces.
struct answer {
  chat::finish_reason finish = chat::finish_reason::stop;
  std::string tail;         ///< Text that was held back to the end and turned out to be no stop string.
  std::string stop_string;  ///< The one that ended the answer; empty: none did.
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;      ///< Of the prompt.
  std::uint32_t generation_tokens = 0;  ///< The model's own end not counted.
  std::vector<scored> scores;           ///< In the order of the request's continuations.
  execution how;
  std::optional<prefix_use> prefix;
  std::string template_name;     ///< Which one made the prompt from turns; empty: it was none.
  std::string template_warning;  ///< Why the same turns may render differently another day.
};

/// What a reply tells of its run: `execution` {mode, peak_batch_size, queue_s, ttft_s}, `performance`
/// {prompt_tokens_per_second, generation_tokens_per_second, peak_memory_gb}, and where they apply
/// `prompt_cache` {mode, key, backend, cached_tokens, fed_tokens, outcome, degraded_reason} and `template`
/// {name, warning}. Times in seconds, GB of 10⁹ bytes; ttft_s is null without a token, what else is unknown
/// is absent.
[[nodiscard]] json::object metadata(const answer& whole);

/// Counters since the start, and the state at this moment.
struct statistics {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  std::uint64_t rejected = 0;  ///< The queue was full.
  std::uint32_t peak_batch_size = 0;
  std::uint32_t queued = 0;  ///< Controls included.
  std::uint32_t active = 0;  ///< Rows that are taken, those that the engine has not let go included.
  bool closing = false;
  bool closed = false;
  std::uint32_t max_batch_size = 0;
  std::uint32_t max_queue_size = 0;
};

}  // namespace evalcore::engine
