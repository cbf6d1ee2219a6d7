#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/pool/pool.hpp>

#include "run/answers.hpp"
#include "run/outgoing.hpp"
#include "run/run_state.hpp"

namespace evalcore::run {

/// The failure with what the backend said of it, unless that is in it already.
[[nodiscard]] std::string in_words(const error& failure);

/// The items that are under way: each attempt goes into the store, each answer is scored and counted.
class flights {
 public:
  /// Both must outlive it.
  flights(run_state& of, outgoing& from) : run_(of), out_(from) {}

  /// What happened to one of them, with what the store gets of it. Errors: storage; bad_suite.
  result<void> handle(pool::event& event);
  /// Counts the answers since the last call, which are now in the store for good. Errors: bad_suite.
  [[nodiscard]] result<void> committed();

 private:
  struct flight {
    item_record record;
    attempt_record attempt;
    std::vector<std::string> left_out = {};  ///< Fields of the item that the prepared request lacks.
    bool waits = false;                      ///< For another attempt; the last one is stored.
    std::optional<pico_usd> bound = {};      ///< Of the cost of one attempt.
    item one = {};                           ///< Without its messages.
    std::shared_ptr<const score::scorer> scorer = {};
  };

  result<void> started(const pool::event& event);
  result<void> retrying(const pool::event& event);
  result<void> ended(pool::event& event);
  result<void> make(pool::item_id id);

  void tell_order();
  void tell_dropped(const std::string& item_id, const chat::reply& reply);
  void count_error(const item_record& of, const error& why);
  void count_tokens(const chat::reply& reply, const attempt_record& attempt);

  run_state& run_;
  outgoing& out_;
  std::map<pool::item_id, flight> flying_;
  std::vector<new_answer> arrived_;  ///< Written, and not committed yet.
  prefix::planning told_planning_ = prefix::planning::whole;
  std::set<std::string> told_dropped_;
  std::uint64_t second_errors_ = 0;
};

}  // namespace evalcore::run
