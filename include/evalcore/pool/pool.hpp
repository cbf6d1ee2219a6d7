#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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
  /// ended: the reply or why there is none. drained: an error when the run could not go on.
  std::optional<result<chat::reply>> outcome;
};

/// Pulls requests from a source and runs them against one backend with bounded concurrency. Everything
/// happens on the loop's thread; the host learns of it through one queue.
///
/// Threads: any, for every function. The source and the backend must outlive the pool and are only
/// touched on the loop. The destructor cancels what is in flight and waits for it (bounded: backends end a
/// cancelled request at once).
class pool {
 public:
  pool(net::loop& owner, backend::backend& to, source& from, options how);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void start();
  void drain();
  void cancel_all();
  void set_max_in_flight(std::uint32_t bound);

  /// The next event; nothing when `timeout` passed first.
  [[nodiscard]] std::optional<event> poll(std::chrono::milliseconds timeout);
  /// Unblocks one poll().
  void wake();

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace evalcore::pool
