#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/host_scorer.hpp>
#include <evalcore/run/store.hpp>

#include "run/run_state.hpp"

namespace evalcore::run {

/// Stands for the host's scorer where replies are counted and kept. It has no verdicts of its own.
[[nodiscard]] std::shared_ptr<const score::scorer> scored_by_host(const std::string& name);

[[nodiscard]] bool is_hosts(const score::scorer& one) noexcept;

/// The replies of a run that its host scores. Each is in the store before the host is asked, so that none is
/// lost with a host that fails or is slow; what finds no room among the questions that are out is read from
/// there again, so that few are held.
class host_scoring {
 public:
  /// Both must outlive it.
  host_scoring(run_state& of, host_scorer& who) : run_(of), who_(who) {}
  ~host_scoring() { who_.close(); }
  host_scoring(const host_scoring&) = delete;
  host_scoring& operator=(const host_scoring&) = delete;

  /// The store has this reply to the item at this position of the suite: the host is asked for its score, now
  /// or when there is room. Errors: bad_suite.
  [[nodiscard]] result<void> wants(std::size_t position, const item& one, const item_record& record,
                                   const chat::reply& reply);
  /// Keeps what the host gave, and asks as many more as may be out. Errors: storage; bad_suite.
  result<void> go_on();
  /// The same until nothing is left or `stop` is requested; `meanwhile` is called now and then. What is left
  /// then counts as unscored, and is asked again by the run that goes on from the store. Errors: as go_on(),
  /// and those of `meanwhile`.
  result<void> finish(const std::stop_token& stop, const std::function<result<void>()>& meanwhile);
  /// As where `stop` is requested.
  void give_up();

 private:
  struct place {
    std::size_t position = 0;
    std::uint32_t epoch = 0;
  };
  struct question {
    place where;
    item_record record;
    std::string category;
    std::optional<chat::reply> reply;  ///< Where a second answer is compared with it.
  };

  result<void> keep();
  result<void> keep(const question& of, const score::verdict& what);
  result<void> ask();
  result<void> ask_from_store(const place& where);
  result<void> ask(std::size_t position, const item& one, const item_record& record,
                   const chat::reply& reply);

  run_state& run_;
  host_scorer& who_;
  std::deque<place> waiting_;
  std::map<std::uint64_t, question> asked_;  ///< By ticket.
  bool told_unscored_ = false;
};

}  // namespace evalcore::run
