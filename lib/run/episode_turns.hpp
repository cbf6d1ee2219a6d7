#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/episodes.hpp>

#include "run/episode_live.hpp"
#include "run/episode_source.hpp"
#include "run/episode_store.hpp"

namespace evalcore::run {

/// What becomes of each turn: answered by the store, sent, kept, told to the host. Its caller has the lock.
/// Errors of the store have its stage; after one of them nothing more may be done.
class episode_turns {
 public:
  /// All but `how` must outlive it. `source` is the pool's.
  episode_turns(backend::backend& to, store& into, episode_store kept, const episode_options& how,
                episode_source& source, pool::pool& pool);

  result<void> begin_run();
  result<episode_number> begin(const std::string& id, chat::request first, std::uint32_t epoch);
  /// Null when there is none of that number that the host may speak of.
  [[nodiscard]] episode_live* find(episode_number which);
  /// The next request of one that waits.
  result<void> go_on(episode_number which, episode_live& one, chat::request request);
  /// The host lets go of one that is not out.
  result<void> let_go(episode_number which, const stored_end& end);
  result<void> cancel(episode_number which, episode_live& one);

  result<void> handle(pool::event& event);
  /// Ends the requests of episodes that have no time left.
  result<void> end_late_ones(instant now);
  /// When the next of them has none.
  [[nodiscard]] std::optional<instant> next_deadline() const;
  [[nodiscard]] std::optional<episode_event> take_event();

  /// From here on the ends of requests are kept, and nobody is told.
  void finishing() noexcept { finishing_ = true; }
  [[nodiscard]] bool drained() const noexcept { return drained_.has_value(); }
  /// Keeps the figures as the run's summary.
  result<episode_figures> end_run(double wall_s);
  [[nodiscard]] std::size_t running() const;

 private:
  using state = episode_live::state;

  result<void> take_turn(episode_number which, episode_live& one, chat::request request, std::string added);
  result<void> drop_stored(episode_number which, episode_live& one);
  void send(episode_number which, episode_live& one);
  void replied(episode_number which, episode_live& one, chat::reply&& reply, bool reused);
  result<void> stop(episode_number which, episode_live& one, episode_end why, std::optional<error> failure);
  void free_place(episode_number which);
  void finished_before(episode_number which, const episode_record& record, std::size_t turns, stored_end end);
  void tell(episode_event&& event);

  result<void> started(episode_number which, episode_live& one, const pool::event& event);
  result<void> ended(episode_number which, episode_live& one, pool::event& event);
  result<void> drained(pool::event& event);
  [[nodiscard]] std::size_t given_up() const;

  backend::backend& backend_;
  std::map<std::string, std::string> identity_;
  store& store_;
  episode_store kept_;
  episode_options how_;
  std::string suite_hash_;
  std::string run_id_;
  episode_source& source_;
  pool::pool& pool_;

  std::map<episode_number, episode_live> live_;
  std::set<std::string> under_way_;                          ///< Keys of those in live_.
  std::unordered_map<pool::item_id, episode_number> items_;  ///< Turns that are out.
  std::deque<episode_event> events_;
  episode_number last_number_ = 0;
  pool::item_id last_item_ = 0;
  episode_figures figures_;
  bool finishing_ = false;
  std::optional<error> drained_;  ///< Why nothing more is sent.
};

}  // namespace evalcore::run
