#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <evalcore/base/clock.hpp>

namespace evalcore::run {

/// Names an episode within one `episodes`; never reused.
using episode_number = std::uint64_t;

/// How far one episode may go. Absent is no limit. A limit is looked at before each turn: the reply that
/// reaches it is still handed out, and no further request is sent.
struct episode_limits {
  std::optional<std::uint32_t> turns;  ///< Replies of the model.
  /// Prompt and answer of all turns together, as the backend reports them, so that a prompt counts again
  /// with every turn that it is a part of. Where the backend reports none this limit is never met.
  std::optional<std::uint64_t> tokens;
  /// From the first request that this process sends for the episode. A request that is out when the time is
  /// over is cancelled.
  std::optional<duration> time;
  std::optional<double> cost;  ///< What the host has added with episodes::add_cost(), in its own unit.
};

/// Why an episode came to its end. Values are never reused or renumbered.
enum class episode_end : std::uint8_t {
  done = 1,       ///< The host ended it.
  cancelled = 2,  ///< The host gave it up; it is run again on resume.
  errored = 3,    ///< A request failed for good: no fault of the model's, and run again on resume.
  turns = 10,     ///< It met this limit.
  tokens = 11,
  time = 12,
  cost = 13,
  context = 14,  ///< The conversation no longer fits the model's context.
};

/// "done", "turns", …
[[nodiscard]] std::string_view name(episode_end why) noexcept;
[[nodiscard]] std::optional<episode_end> episode_end_from(std::string_view text) noexcept;

/// What an episode has used so far. Absent is unknown: no reply told.
struct episode_use {
  std::uint32_t turns = 0;  ///< Replies, those from the store included.
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> completion_tokens;
  double cost = 0;
};

}  // namespace evalcore::run
