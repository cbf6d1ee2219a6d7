#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// How a row runs: what one left behind serves only rows of the same layout.
enum class row_layout : std::uint8_t { batch, exclusive };

/// What must be equal for two requests to share snapshots, next to the tokens: a hash of all that is given
/// here. The text is not in it, its tokens say more.
[[nodiscard]] std::string cache_salt(std::string_view scope, std::string_view key, row_layout layout,
                                     std::span<const image> images);

/// Bytes that snapshots may take by default: a quarter of the device's working set and at most 8 GiB, which
/// is also what an unknown working set gives.
[[nodiscard]] std::uint64_t prefix_cache_budget(std::optional<std::uint64_t> working_set) noexcept;

struct prefix_cache_options {
  /// Of all snapshots together, and so of each; above 0. Absent: prefix_cache_budget().
  std::optional<std::uint64_t> max_bytes;
  /// Bytes of measured free memory that a snapshot must leave free.
  std::uint64_t reserve_bytes = std::uint64_t{512} << 20;
  /// Snapshots kept, at least 1. Absent: as many as max_bytes holds, and two for a recurrent model.
  std::optional<std::size_t> max_snapshots;
};

/// Errors: invalid_argument for a value out of its range.
[[nodiscard]] result<void> check(const prefix_cache_options& options);

/// Counted since the cache was made; clear() does not reset them.
struct prefix_cache_stats {
  std::uint64_t hits = 0;             ///< Rows that began at a snapshot,
  std::uint64_t misses = 0;           ///< and those that found none.
  std::uint64_t restored_tokens = 0;  ///< By all hits.
  std::uint64_t stores = 0;
  std::uint64_t stored_tokens = 0;  ///< By all stores.
  std::uint64_t evictions = 0;
  std::uint64_t memory_skips = 0;    ///< Snapshots that the budget or the free memory had no room for.
  std::uint64_t unrestorable = 0;    ///< Snapshots that the engine could not restore.
  std::uint64_t rejects = 0;         ///< Snapshots that the engine could not take, or that could never serve.
  std::uint64_t snapshots = 0;       ///< Now.
  std::uint64_t resident_bytes = 0;  ///< Now.
  std::uint64_t memory_max_bytes = 0;  ///< The budget.
};

/// What came of a snapshot that was offered.
enum class kept : std::uint8_t {
  stored,
  present,   ///< There already: it counts as used.
  skipped,   ///< No room (prefix_cache_stats::memory_skips).
  rejected,  ///< prefix_cache_stats::rejects.
};

/// What came of the snapshots of one request.
struct snapshot_tally {
  std::uint32_t stores = 0;
  std::uint32_t memory_skips = 0;
  std::uint32_t rejects = 0;
  std::uint32_t unrestorable = 0;  ///< Tokens of the one that it was to begin with and could not; 0: none.

  void count(kept outcome) noexcept;
};
/// Why this request, or the next one of its key, computes a prompt as a whole: "#FALLBACK slug: sentence".
/// Empty unless a snapshot could not be restored, or one was skipped or rejected and none was stored.
[[nodiscard]] std::string degraded_reason(const snapshot_tally& tally, std::uint32_t prompt_tokens,
                                          const prefix_cache_stats& cache);
/// The same where no prefix is kept at all: since the engine has no snapshots, or since its answers change
/// after a restored one.
[[nodiscard]] std::string no_prefixes_reason(const traits& engine);

/// Snapshots of prompts' beginnings in memory, found by their tokens. What was unused for longest goes first,
/// of those that nobody holds.
///
/// All calls come from the engine's thread: a snapshot that is replaced or evicted dies inside of the call.
class prefix_cache {
 public:
  /// A snapshot of fewer tokens costs more than it saves.
  static constexpr std::uint32_t min_tokens = 16;
  /// A conversation's next prompt often writes the last few tokens of this one differently.
  static constexpr std::uint32_t guard_tokens = 8;

  /// `memory`: for the budget, where the options leave it open.
  prefix_cache(const traits& engine, const memory_report& memory, const prefix_cache_options& options = {});
  ~prefix_cache();
  prefix_cache(prefix_cache&&) noexcept;
  prefix_cache& operator=(prefix_cache&&) noexcept;

  struct hit {
    std::shared_ptr<const snapshot> from;  ///< Null: nothing was found.
    std::uint32_t tokens = 0;              ///< Fewer than the prompt has.
  };
  /// The longest snapshot that is a beginning of `prompt`, but not all of it. It goes last from now on.
  [[nodiscard]] hit find(std::string_view salt, std::span<const token> prompt);
  /// As find(), but only the number of tokens, and it is no use of the snapshot.
  [[nodiscard]] std::uint32_t longest(std::string_view salt, std::span<const token> prompt) const;
  /// A row has begun after so many restored tokens; 0: after none. For the statistics.
  void count_opened(std::uint32_t restored) noexcept;
  /// Lets go of a snapshot that the engine could not restore.
  void drop(std::string_view salt, std::span<const token> prefix);

  /// Where to cut a prompt of `prompt_tokens` whose first `shared` tokens others will have too: the longest
  /// length that may be kept, at most `shared` and fewer than the prompt has. 0: none.
  [[nodiscard]] std::uint32_t cut(std::uint32_t shared, std::uint32_t prompt_tokens) const noexcept;
  /// Where to cut a prompt that a later one will continue, as the turns of a conversation do. 0: nowhere.
  [[nodiscard]] std::uint32_t cut_before_end(std::uint32_t prompt_tokens) const noexcept;

  /// The first half of keeping a snapshot of `bytes`: evicts until the budget and the free memory have room.
  /// Called before it is taken if the engine knows its size, with `memory` as it is now; else after, with
  /// `memory` as it was before. False: there is no room, and a skip was counted. Nothing is evicted for what
  /// could not fit anyway.
  [[nodiscard]] bool make_room(std::uint64_t bytes, const memory_report& memory);
  /// The second half: keeps a snapshot of `prefix`, evicting others where the budget demands it. A prefix
  /// that is too short, or that does not end on the engine's grid, is rejected.
  kept store(std::string_view salt, std::span<const token> prefix, std::shared_ptr<const snapshot> taken);
  /// The engine could not take a snapshot. Always kept::rejected.
  kept reject() noexcept;

  /// Lets go of the snapshot that was unused for longest, for an engine that has no room for a row. One that
  /// somebody else holds (a row that uses its memory, a longer snapshot) would make no room, and stays.
  /// False: there is no other.
  bool evict_oldest();
  /// Lets go of all, and returns how many they were.
  std::size_t clear();

  [[nodiscard]] prefix_cache_stats stats() const noexcept;
  /// True at the first call with this key since the last clear(): what is worth a line in a log is worth one.
  [[nodiscard]] bool first_report(std::string_view key);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace evalcore::engine
