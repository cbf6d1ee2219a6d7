#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

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
/// Nothing can go out now; ask again after the next event. Only returned while something is under way.
struct hold {};
/// Every request went out.
struct finished {};
using action = std::variant<send, share, hold, finished>;

/// How the backend keeps what it computed.
struct cache_model {
  /// Present: the cache is per slot and requests can be pinned. At most as many as requests will be in
  /// flight; slots are taken as empty at the start.
  std::optional<std::uint32_t> slots = {};
  bool can_share = false;  ///< A slot's cache can be copied into another.
  bool enabled = true;     ///< False: no cache at all; predictions are 0.
};

/// Decides who goes out when, given the plan: the leader of a group first, its followers once the prefix
/// can be had, each slot fed with what extends what it holds. A state machine: next() is asked whenever
/// there is room for one more request; the on_*() calls say what happened. No clock, no I/O.
///
/// With slots, a request goes to a free slot that loses nothing by it: no other slot holds, or is computing,
/// notably more of its prompt. A slot without such work is given a copy of one that has, where the backend
/// can copy. Where it cannot, the slot computes the prefix again only if that costs no more units than the
/// slot's even part of what is still to compute behind that prefix; otherwise it stays idle, since on one
/// machine ten requests on four slots that did not share took twice the time of one slot.
/// Prediction: what the prompt has in common with the last prompt in that slot, at most its length - 1
/// (the last unit is always computed); none after a failure, which leaves the slot's content unknown.
///
/// Without slots, followers go out at the first token (or end) of the running request that has the prefix;
/// the leaders of other groups fill the time. Prediction: the most that the prompt has in common with any
/// request sent before that did not fail, at most its length - 1; none where that is nothing, because what
/// such a backend holds from others is unknown.
///
/// A plan in suite order is followed as it stands, unpinned, without holds and copies. With several slots the
/// server then chooses the slot and nothing is predicted.
class dispatcher {
 public:
  /// Sends the items of `order.order`. `prompts` must outlive the dispatcher.
  dispatcher(plan order, std::span<const sequence> prompts, cache_model cache);
  ~dispatcher();
  dispatcher(dispatcher&&) noexcept;
  dispatcher& operator=(dispatcher&&) noexcept;

  [[nodiscard]] action next();
  void on_first_token(std::uint32_t item);
  /// The request ended, well or not. A failed leader is replaced by the next member of its group.
  void on_end(std::uint32_t item, bool ok);
  /// After a failed copy there is no further one.
  void on_shared(bool ok);

 private:
  std::unique_ptr<strategy> strategy_;
};

}  // namespace evalcore::prefix
