#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/pool/source.hpp>

#include "pool/endpoint_gate.hpp"
#include "pool/retry_budget.hpp"

namespace evalcore::pool {

/// What the shell is to do. It does exactly that and reports back.
struct ask_source {
  bool operator==(const ask_source&) const = default;
};  ///< Call source.next(), report pulled_work(), pulled_refused(), pulled_share(), source_holds(),
    ///< source_waits() or source_exhausted().
struct start_attempt {
  item_id id = 0;
  std::uint32_t endpoint = 0;
  std::uint32_t attempt = 1;  ///< Of this item.
  bool operator==(const start_attempt&) const = default;
};
struct start_share {
  bool operator==(const start_share&) const = default;
};  ///< Start the share that was just pulled.
struct cancel_attempt {
  item_id id = 0;
  errc why = errc::cancelled;
  bool operator==(const cancel_attempt&) const = default;
};  ///< Cancel it; `why` is cancelled or timeout. Its end is still to be reported.
struct end_item {
  item_id id = 0;
  error why;
};  ///< It waited for a retry and gets none.
struct report_drained {
  std::optional<error> why;  ///< Why not everything was sent; absent: it was, or the host asked for it.
};  ///< Once, after the last end.
using command =
    std::variant<ask_source, start_attempt, start_share, cancel_attempt, end_item, report_drained>;

/// What becomes of an item whose attempt ended.
enum class fate : std::uint8_t {
  over,   ///< This is its end.
  waits,  ///< It is sent again: a start_attempt or an end_item follows.
};

/// The pool's decisions, without socket, thread or clock: who goes out when and to which endpoint, what is
/// sent again, when it is enough. Feed it what happened; then call step(now) until it returns nothing. At
/// most one share is under way, and nothing is pulled meanwhile.
///
/// Retries come before new items. When many items wait for a retry, nothing new is pulled.
///
/// Endpoints: an item with an affinity goes to the endpoint that its prefix belongs to (rendezvous hashing),
/// unless that has a quarter more in flight than its share (consistent hashing with bounded loads, Mirrokni
/// et al. 2018) or is closed; one without goes where least is in flight.
///
/// A server that dies makes suspects of all that were out at that moment. Suspects go out one at a time; the
/// one that is out when the server dies again is the cause and ends.
class machine {
 public:
  machine(options how, std::uint32_t endpoints);

  /// Answers to ask_source. What was pulled is started even when drain() came in between.
  void pulled_work(item_id id, std::uint64_t affinity, std::uint64_t prompt_tokens, instant now);
  /// An item that must not be sent, and ended by that.
  void pulled_refused();
  void pulled_share();
  /// `until`: it is asked again then at the latest.
  void source_holds(std::optional<instant> until = {});
  void source_waits();
  void source_exhausted();

  /// Ids that are not in flight are ignored.
  void first_token(item_id id);
  /// The error of an outcome that is final may get words on what was tried.
  [[nodiscard]] fate attempt_ended(item_id id, result<chat::reply>& outcome, instant now);
  void reported(item_id id, const backend::rate_report& limits, instant now);
  void share_ended();

  /// Pulls nothing more; what was pulled goes on to its end, retries included.
  void drain();
  /// drain(), and everything in flight is cancelled; a share under way is not waited for.
  void cancel_all();
  /// The item ends with `cancelled`; ids that are not in flight and do not wait are ignored.
  void cancel(item_id id);
  /// The source may have something to give again.
  void look_again();
  /// At least 1, for each endpoint. What is in flight above a lower bound goes on.
  void set_max_in_flight(std::uint32_t bound, instant now);

  [[nodiscard]] std::optional<command> step(instant now);
  /// Nothing can go out, however much room there is.
  [[nodiscard]] bool paused(instant now) const;
  /// When step() wants to be called again although nothing happened.
  [[nodiscard]] std::optional<instant> next_wake(instant now);

  [[nodiscard]] std::size_t in_flight() const noexcept;
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::span<const endpoint_gate> endpoints() const noexcept { return gates_; }

 private:
  struct item {
    std::uint64_t affinity = 0;
    std::uint64_t prompt_tokens = 0;
    std::uint32_t attempts = 0;
    std::uint32_t failures = 0;         ///< Attempts that count against `retries`.
    std::optional<instant> not_before;  ///< It waits; absent: it is in flight.
    std::uint32_t endpoint = 0;
    booking out;
    instant sent_at;
    bool suspect = false;
    bool cancelling = false;
    error last;  ///< Of its last attempt.
  };
  using items = std::unordered_map<item_id, item>;

  [[nodiscard]] double unit();
  [[nodiscard]] bool any_open(instant now) const;
  [[nodiscard]] bool wants_more() const;
  /// When the nth item (from 0) of an open loop may go out; the past without a rate.
  [[nodiscard]] instant due_at(std::uint64_t nth) const;
  /// When the source may be asked: an open loop is one item ahead, so that it knows its end with the last
  /// one.
  [[nodiscard]] instant asks_at() const;
  [[nodiscard]] std::size_t most_waiting() const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> choose(const item& one, instant now) const;
  [[nodiscard]] std::optional<command> send_waiting(instant now);
  [[nodiscard]] std::optional<command> expire(instant now);
  [[nodiscard]] start_attempt start(item_id id, item& one, std::uint32_t endpoint, instant now);
  void wait(item_id id, item& one, instant until);
  void stop_waiting(item_id id, item& one);
  void forget(items::iterator which);
  void stop(std::optional<error> why);
  [[nodiscard]] std::optional<error> out_of_use(instant now) const;
  [[nodiscard]] bool retry_pays(const item& one, const error& why, bool probe, instant now) const;

  options how_;
  std::vector<endpoint_gate> gates_;
  std::vector<std::uint32_t> suspects_out_;  ///< By endpoint.
  std::optional<retry_budget> budget_;       ///< From the first step.
  std::mt19937_64 random_;
  items items_;
  std::vector<std::pair<instant, item_id>> waiting_;   ///< In order. Most go where they came, at once.
  std::deque<std::pair<instant, item_id>> deadlines_;  ///< All have the same, so they are in order.
  std::deque<command> due_;
  std::optional<instant> started_;
  std::uint64_t attempts_ = 0;
  std::uint64_t pulled_ = 0;
  std::uint64_t errors_ = 0;
  error last_failure_;
  std::optional<error> failure_;
  bool asking_ = false;                 ///< The source was asked and has not answered.
  bool holding_ = false;                ///< The source answered hold or later; cleared by the next event.
  std::optional<instant> holds_until_;  ///< The hold ends then at the latest.
  bool later_ = false;  ///< Its last answer was later: with nothing in flight it may still have more.
  bool sharing_ = false;
  bool draining_ = false;  ///< Nothing more is pulled: drained, cancelled, or the source is exhausted.
  bool stopped_ = false;   ///< Nothing more is sent.
  bool cancelling_ = false;
  bool reported_ = false;
};

}  // namespace evalcore::pool
