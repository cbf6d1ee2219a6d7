#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/errc.hpp>
#include <evalcore/pool/source.hpp>

namespace evalcore::pool {

struct options {
  std::uint32_t max_in_flight = 16;   ///< At least 1.
  duration total_deadline = {};       ///< For one item, from its dispatch; zero: none.
};

/// What the shell is to do. It does exactly that and reports back.
struct ask_source {};                                     ///< Call source.next(), report pulled()/….
struct start_work { item_id id = 0; };                    ///< Start the work that was just pulled.
struct start_share {};                                    ///< Start the share that was just pulled.
struct cancel_work { item_id id = 0; errc why = errc::cancelled; };
struct report_drained {};                                 ///< Once, after the last end.
struct report_stuck {};                                   ///< The source holds although nothing is in flight.
using command = std::variant<ask_source, start_work, start_share, cancel_work, report_drained, report_stuck>;

/// The pool's decisions, without socket, thread or clock: bounded concurrency, deadlines, cancel, drain.
/// Feed it what happened; then call step(now) until it returns nothing. At most one share is under way,
/// and nothing is pulled meanwhile.
class machine {
 public:
  explicit machine(options how);

  void pulled_work(item_id id);
  void pulled_share();
  void source_holds();
  void source_exhausted();

  void first_token(item_id id);
  void ended(item_id id);
  void share_ended();

  /// Starts nothing more; what is in flight goes on to its end.
  void drain();
  /// drain(), and everything in flight is cancelled.
  void cancel_all();
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
  options how_;
  std::map<item_id, flight> flying_;
  std::deque<command> due_;
  bool asking_ = false;      ///< The source was asked and has not answered.
  bool holding_ = false;     ///< The source answered hold; cleared by the next event.
  bool sharing_ = false;
  bool exhausted_ = false;
  bool draining_ = false;
  bool reported_ = false;
};

}  // namespace evalcore::pool
