#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/adaptive_limit.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/pool/source.hpp>

namespace evalcore::pool {

/// What the host sees, in order. For each item: for each attempt started, at most one first_token, text where
/// work::wants_text says so, and retrying if it failed and another is to follow; then exactly one ended.
/// After the last of them drained, once. An item that is never sent only ends.
struct event {
  enum class kind : std::uint8_t { started, first_token, text, retrying, ended, drained };
  kind what = kind::drained;
  item_id id = 0;
  std::uint32_t attempt = 0;   ///< Of this item, from 1; 0: it was not sent.
  std::uint32_t endpoint = 0;  ///< Where the attempt is or was, by the order in which they were given.
  /// retrying: why the attempt failed. ended: the reply or why there is none (`timeout` for the total
  /// deadline, `cancelled` by the host or the time limit, or what the backend said of the last attempt).
  /// drained: an error when not everything was sent although the host did not ask for that. Null otherwise.
  std::unique_ptr<result<chat::reply>> outcome = nullptr;
  std::string text = {};  ///< text: what comes next in the attempt's answer.
};

/// A change of an adaptive limit.
struct limit_step {
  duration after = {};  ///< The start of the pool.
  std::uint32_t limit = 0;
  limit_reason why = limit_reason::started;
  std::optional<double> tokens = {};  ///< Bound on tokens in flight, where that was lowered.
};

/// One endpoint's part in a run.
struct endpoint_figures {
  std::string address;  ///< For people.
  std::uint32_t limit = 0;
  std::uint32_t in_flight = 0;
  std::uint64_t sent = 0;      ///< Attempts.
  std::uint64_t answered = 0;  ///< Attempts that gave a reply.
  std::uint64_t failed = 0;
  std::uint64_t completion_tokens = 0;  ///< As far as they were reported.
  /// How long nothing will be sent to it, as it asked for that or failed; absent: it may be sent to, or waits
  /// for an end.
  std::optional<duration> paused_for;
  std::uint64_t ejections = 0;            ///< How often it was left alone for failing again and again.
  std::vector<limit_step> limit_history;  ///< Of an adaptive limit, oldest first, bounded.
};

/// Pulls requests from a source and runs them against one or more endpoints of the same model: bounded
/// concurrency, retries, rate limits (see options). Everything happens on the loop's thread; the host learns
/// of it through one queue.
///
/// Threads: any, for every function but the destructor, which must not run on the loop. The loop, the
/// backends and the source must outlive the pool; the last two are only touched on the loop. The destructor
/// cancels what is in flight and waits for it (bounded: backends end a cancelled request at once).
class pool {
 public:
  pool(net::loop& owner, std::vector<backend::backend*> endpoints, source& from, options how);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// From here on each event goes to `sink`, on the loop, in the place of poll(). Before start().
  void deliver_to(std::function<void(event&&)> sink);
  /// Begins to pull; once.
  void start();
  /// Pulls nothing more; what was pulled goes on to its end, retries included.
  void drain();
  /// drain(), and what is in flight ends with `cancelled`.
  void cancel_all();
  /// Ends one item with `cancelled`, whether it is out or waits for a retry. One that was not pulled yet or
  /// has ended is left alone.
  void cancel(item_id id);
  /// Asks a source again that had nothing to give.
  void look_again();
  /// At least 1, for each endpoint; with an adaptive limit the highest that it may try. What is in flight
  /// above a lower bound goes on.
  void set_max_in_flight(std::uint32_t bound);

  /// The next event; nothing when `timeout` passed first or wake() was called.
  [[nodiscard]] std::optional<event> poll(std::chrono::milliseconds timeout);
  /// Unblocks one poll(): the one that waits, else the next that would wait.
  void wake();

  [[nodiscard]] std::vector<endpoint_figures> figures() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace evalcore::pool
