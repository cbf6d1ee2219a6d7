#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

class strategy;

/// Send this request next.
struct send {
  std::uint32_t item = 0;                         ///< Position in the suite.
  std::optional<std::uint32_t> slot;              ///< Pin it there.
  std::optional<std::uint64_t> predicted_cached;  ///< Units that the backend will find in its cache.
};
/// Copy what `from` holds into `to` before anything else is sent to those slots; answer with on_shared().
struct share {
  std::uint32_t from = 0;
  std::vector<std::uint32_t> to;
};
/// Nothing can go out now; ask again after the next event, and at `until` at the latest. Only returned while
/// something is under way.
struct hold {
  std::optional<instant> until = {};
};
/// Every request went out.
struct finished {};
using action = std::variant<send, share, hold, finished>;

/// How the backend keeps what it computed. Absent: not known.
struct cache_model {
  /// Present: the cache is per slot and requests can be pinned. At most as many as requests will be in
  /// flight; slots are taken as empty at the start.
  std::optional<std::uint32_t> slots = {};
  bool can_share = false;  ///< A slot's cache can be copied into another.
  bool enabled = true;     ///< False: no cache at all; predictions are 0.

  /// Requests that will be in flight at most, at least 1; absent: not known. A bound that goes down later is
  /// not heard of: waiting then counts as dearer than it is.
  std::optional<std::uint32_t> in_flight = {};

  // Of one common cache, in tokens.
  bool shares_in_flight = false;              ///< A prompt is found while it is still being computed.
  std::uint32_t page = 1;                     ///< Found in multiples of this.
  std::uint32_t least = 0;                    ///< A shorter prefix is not found.
  std::optional<std::uint32_t> entries = {};  ///< Keeps so many whole prompts, from their end on.
  std::optional<std::uint64_t> room = {};     ///< Keeps so many tokens.
  std::optional<duration> lives = {};         ///< Keeps a prefix for so long after its last use.
};

/// How much of the planning goes on.
enum class planning : std::uint8_t {
  whole,    ///< Requests go out in order and wait for prefixes.
  bounded,  ///< They wait only as long as that costs little: the backend does not tell what it brings.
  ended,    ///< The cache gave too little: no order, no waits.
};

/// How a request ended.
struct ending {
  bool ok = true;
  std::optional<std::uint64_t> cached = {};  ///< Tokens that the backend says it found in its cache.
};

/// Decides who goes out when, given the plan: the leader of a group first, its followers once the prefix
/// can be had, each slot fed with what extends what it holds. A state machine: next() is asked whenever
/// there is room for one more request; the on_*() calls say what happened. No clock, no I/O, and no prompts:
/// some 5 bytes a request and 8 a group beside the plan.
///
/// With slots, a request goes to a free slot that loses nothing by it: no other slot holds, or is computing,
/// notably more of its prompt. A slot without such work is given a copy of one that has, where the backend
/// can copy. Where it cannot, the slot computes the prefix again only if that costs no more units than the
/// slot's even part of what is still to compute behind that prefix, the group with the fewest slots for its
/// work first; otherwise it stays idle, since on one machine ten requests on four slots that did not share
/// took twice the time of one slot. But it never waits longer for what another slot has, from when that was
/// computed, than computing it again takes (for each slot that did so, once more), since answers may be long;
/// and a leader that has no first token after 10 s, and 0.1 s for each token to compute, and four times as
/// long as any other took, is waited for no longer.
/// Prediction: what the prompt has in common with the last prompt in that slot, at most its length - 1
/// (the last unit is always computed); none after a failure, which leaves the slot's content unknown. When
/// the first 16 predicted requests found less than a tenth of what was predicted, the rest goes out in the
/// suite's order, unpinned (planning::ended).
///
/// Without slots, groups take turns in proportion to their sizes, each also for its part of the groups that
/// wait behind them, so that long prompts run beside long answers from first to last: by chance, the same
/// each time, or strictly where the cache keeps few entries; as many groups as the cache has room for, at
/// most 8 and those that began to fill the time of others. Where the room is not known, one in eight of the
/// predicted prefixes that was not found shows that it is less than what was asked of it. Followers go out at
/// the first token (or end) of the running request that has the prefix; the leaders of other groups fill the
/// time. A leader that keeps them waiting for 10 seconds, and four times as long as any other did, is
/// replaced; where a prompt is kept only when its request has ended, nobody waits longer for that, from the
/// first token on, than computing the prompt again takes, nor at all while the backend has nothing to
/// compute. When the first 16 predicted requests found less than a tenth of what was predicted, the rest goes
/// out in the suite's order (planning::ended). A backend that gave 16 answers and told of no cache may or may
/// not have one. Times cannot show it: under load a first token waits for other prompts longer than for its
/// own. So what waiting can cost there is bounded instead: no place stays free for it while such places have
/// taken 1 % of the time of all places (planning::bounded once that was so); the order is kept, and who has
/// not to wait still goes first. As long as no answer has told of a cache, nobody waits either when
/// everything that is left has room at once: at the end, and in a run that is over in one go, nothing makes
/// up for a wait. Prediction: the most that the prompt has in common with any request sent before that did
/// not fail and is not taken as dropped since, at most its length - 1 (of requests that have ended, where
/// prompts are kept only then); none where that is nothing, because what such a backend holds from others is
/// unknown.
///
/// A plan in suite order is followed as it stands, unpinned, without holds and copies. Where there are slots
/// nothing is predicted then: the server chooses the slot, and may bring back what it had put away of other
/// prompts. So is any plan where there is no cache.
class dispatcher {
 public:
  dispatcher(plan order, cache_model cache);
  ~dispatcher();
  dispatcher(dispatcher&&) noexcept;
  dispatcher& operator=(dispatcher&&) noexcept;

  [[nodiscard]] action next(instant now);
  void on_first_token(std::uint32_t item, instant now);
  /// An attempt failed, and the request is sent again some time after `now`: how long it takes tells nothing.
  void on_retry(std::uint32_t item, instant now);
  /// From `now` on nothing can go out, whatever is decided here (true); that is over (false). Places that are
  /// free meanwhile are not free for a prefix.
  void on_pause(bool paused, instant now);
  /// The request ended, well or not. A failed leader is replaced by the next member of its group.
  void on_end(std::uint32_t item, const ending& how);
  /// After a failed copy there is no further one.
  void on_shared(bool ok);

  [[nodiscard]] planning state() const;
  [[nodiscard]] const plan& order() const noexcept { return *plan_; }

 private:
  std::unique_ptr<const plan> plan_;
  std::unique_ptr<strategy> strategy_;
};

}  // namespace evalcore::prefix
