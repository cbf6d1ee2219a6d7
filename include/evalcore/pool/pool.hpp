#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/machine.hpp>
#include <evalcore/pool/source.hpp>

namespace evalcore::pool {

/// What the host sees, in order: for each item dispatched, started, at most one first_token, exactly one
/// ended; after the last of them, drained, once.
struct event {
  enum class kind : std::uint8_t { started, first_token, ended, drained };
  kind what = kind::drained;
  item_id id = 0;
  /// ended: the reply or why there is none (`timeout` for the total deadline, `cancelled`, or what the
  /// backend says). drained: an error when the run could not go on.
  std::optional<result<chat::reply>> outcome;
};

/// Pulls requests from a source and runs them against one backend with bounded concurrency. Everything
/// happens on the loop's thread; the host learns of it through one queue.
///
/// Threads: any, for every function but the destructor, which must not run on the loop. The loop, the
/// backend and the source must outlive the pool; the last two are only touched on the loop. The destructor
/// cancels what is in flight and waits for it (bounded: backends end a cancelled request at once).
class pool {
 public:
  pool(net::loop& owner, backend::backend& to, source& from, options how);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Begins to pull; once.
  void start();
  /// Pulls nothing more; what is in flight goes on to its end.
  void drain();
  /// drain(), and what is in flight ends with `cancelled`.
  void cancel_all();
  /// At least 1. What is in flight above a lower bound goes on.
  void set_max_in_flight(std::uint32_t bound);

  /// The next event; nothing when `timeout` passed first or wake() was called.
  [[nodiscard]] std::optional<event> poll(std::chrono::milliseconds timeout);
  /// Unblocks one poll(): the one that waits, else the next that would wait.
  void wake();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace evalcore::pool
