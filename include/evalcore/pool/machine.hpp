#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/errc.hpp>
#include <evalcore/pool/source.hpp>

namespace evalcore::pool {

struct options {
  std::uint32_t max_in_flight = 16;  ///< At least 1.
  duration total_deadline = {};      ///< For one item, from its dispatch; zero: none.
};

/// What the shell is to do. It does exactly that and reports back.
struct ask_source {
  bool operator==(const ask_source&) const = default;
};  ///< Call source.next(), report pulled_work(), pulled_share(), source_holds() or source_exhausted().
struct start_work {
  item_id id = 0;
  bool operator==(const start_work&) const = default;
};  ///< Start the work that was just pulled.
struct start_share {
  bool operator==(const start_share&) const = default;
};  ///< Start the share that was just pulled.
struct cancel_work {
  item_id id = 0;
  errc why = errc::cancelled;
  bool operator==(const cancel_work&) const = default;
};  ///< Cancel it; `why` is cancelled or timeout. Its end is still to be reported.
struct report_drained {
  bool operator==(const report_drained&) const = default;
};  ///< Once, after the last end.
struct report_stuck {
  bool operator==(const report_stuck&) const = default;
};  ///< The source holds although nothing is in flight. Once; drained follows.
using command = std::variant<ask_source, start_work, start_share, cancel_work, report_drained, report_stuck>;

/// The pool's decisions, without socket, thread or clock: bounded concurrency, deadlines, cancel, drain.
/// Feed it what happened; then call step(now) until it returns nothing. At most one share is under way,
/// and nothing is pulled meanwhile.
class machine {
 public:
  explicit machine(options how);

  /// Answers to ask_source. What was pulled is started even when drain() came in between.
  void pulled_work(item_id id);
  void pulled_share();
  void source_holds();
  void source_exhausted();

  /// Ids that are not in flight are ignored.
  void first_token(item_id id);
  void ended(item_id id);
  void share_ended();

  /// Starts nothing more; what is in flight goes on to its end.
  void drain();
  /// drain(), and everything in flight is cancelled; a share under way is not waited for.
  void cancel_all();
  /// At least 1. What is in flight above a lower bound goes on.
  void set_max_in_flight(std::uint32_t bound);

  [[nodiscard]] std::optional<command> step(instant now);
  /// When step() wants to be called again although nothing happened: the next deadline.
  [[nodiscard]] std::optional<instant> next_deadline() const;
  [[nodiscard]] std::size_t in_flight() const noexcept;

 private:
  struct flight {
    std::optional<instant> deadline;
    bool cancelling = false;
  };
  [[nodiscard]] bool wants_more() const noexcept;

  options how_;
  std::map<item_id, flight> flying_;
  std::deque<command> due_;
  bool asking_ = false;   ///< The source was asked and has not answered.
  bool holding_ = false;  ///< The source answered hold; cleared by the next event.
  bool sharing_ = false;
  bool draining_ = false;  ///< Nothing more is pulled: drained, cancelled, or the source is exhausted.
  bool cancelling_ = false;
  bool reported_ = false;
};

}  // namespace evalcore::pool
