#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// Send this request next.
struct send {
  std::uint32_t item = 0;                        ///< Position in the suite.
  std::optional<std::uint32_t> slot;             ///< Pin it there.
  std::optional<std::uint64_t> predicted_cached; ///< Units that the backend will find in its cache.
};
/// Copy what `from` holds into `to` before anything else is sent to those slots; answer with on_shared().
struct share {
  std::uint32_t from = 0;
  std::vector<std::uint32_t> to;
};
/// Nothing can go out now; ask again after the next event.
struct hold {};
/// Every request went out.
struct finished {};
using action = std::variant<send, share, hold, finished>;

/// How the backend keeps what it computed.
struct cache_model {
  std::optional<std::uint32_t> slots;  ///< Present: the cache is per slot and requests can be pinned.
  bool can_share = false;              ///< A slot's cache can be copied into another.
  bool enabled = true;                 ///< False: no cache at all; predictions are 0.
};

/// Decides who goes out when, given the plan: the leader of a group first, its followers once the prefix
/// can be had, each slot fed with what extends what it holds. A state machine: next() is asked whenever
/// there is room for one more request; the on_*() calls say what happened. No clock, no I/O.
class dispatcher {
 public:
  /// `prompts` must outlive the dispatcher.
  dispatcher(plan order, std::span<const sequence> prompts, cache_model cache);
  ~dispatcher();
  dispatcher(dispatcher&&) noexcept;
  dispatcher& operator=(dispatcher&&) noexcept;

  [[nodiscard]] action next();
  void on_first_token(std::uint32_t item);
  /// The request ended, well or not. A failed leader is replaced by the next member of its group.
  void on_end(std::uint32_t item, bool ok);
  void on_shared(bool ok);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::prefix
