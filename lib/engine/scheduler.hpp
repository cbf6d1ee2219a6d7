#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/engine/options.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/refusal.hpp>

#include "engine/collection.hpp"
#include "engine/job.hpp"
#include "engine/waiting_queue.hpp"

namespace evalcore::engine {

/// A prompt as the engine reads it.
struct prepared_prompt {
  std::vector<token> tokens;
  std::string template_name;
  std::string warning;
};

/// What the engine's thread is to do. It does exactly that and reports back with the call named.
struct prepare_prompt {
  std::shared_ptr<const request> what;
};  ///< Render and tokenize; prepared().
struct open_row {
  row_request what;
};  ///< opened().
struct run_step {
  std::uint32_t max_width = 1;
};  ///< stepped().
struct remove_row {
  row_id row = 0;
};  ///< removed().
struct measure_snapshot {
  std::uint32_t tokens = 0;
};  ///< Read the engine's memory and what a snapshot would cost; measured().
struct take_snapshot {
  row_id row = 0;
};  ///< snapshot_taken().
struct run_control {
  control_id which = 0;
};  ///< Run what the host wanted to run; nothing to report.
struct wait {
  std::optional<instant> until;
};  ///< Until then, or until something is submitted, cancelled or closed.
struct stopped {};  ///< The end: the engine may be destroyed.
using action = std::variant<prepare_prompt, open_row, run_step, remove_row, measure_snapshot, take_snapshot,
                            run_control, wait, stopped>;

/// Who runs when on one engine, without engine, thread or clock.
///
/// Requests wait in one queue. What may share a batch runs together, joins whenever a place is free, and
/// leaves alone; everything else runs by itself. Nothing overtakes. Of requests that share a prefix one
/// computes it, and the others wait in their place until they can begin where it is kept.
///
/// A host's threads call submit(), cancel(), control(), aside() and close(); the engine's thread calls
/// next() and reports, in turns, and alone touches `prefixes`. All calls need one lock, but not what an
/// action asks for: a host never waits for the engine.
///
/// What the engine's thread calls may run out of memory (std::bad_alloc): then out_of_memory() puts things in
/// order. cancel() and close() need none.
class scheduler {
 public:
  /// `prefixes` may be null: nothing is kept. It outlives the scheduler.
  scheduler(const options& how, traits engine, prefix_cache* prefixes);

  struct ticket {
    job_id id = 0;
    std::shared_ptr<outlet> out;
  };
  /// `cancelled`: the host has lost interest already. Errors: a refusal, with nothing changed but
  /// statistics::rejected.
  [[nodiscard]] result<ticket> submit(request what, bool cancelled, instant now);
  /// Ends a request at once; its row follows when the engine lets it go. Unknown ids are ignored. True: it
  /// has a row, and a step under way may be interrupted.
  bool cancel(job_id which);
  /// In its turn, after everything that was submitted before. Errors: runtime_closed, queue_full.
  [[nodiscard]] result<control_id> control();
  /// Before the next step and all else, whatever runs. Errors: as for control().
  [[nodiscard]] result<control_id> aside();
  /// Ends everything. What the engine still holds is let go, then comes `stopped`. Idempotent.
  void close();

  [[nodiscard]] action next(instant now);
  void prepared(result<prepared_prompt> prompt);
  void opened(result<row_id> row, instant now);
  void stepped(const result<void>& outcome, const step_output& out, instant now);
  void removed(bool gone);
  void measured(const memory_report& memory, std::optional<std::uint64_t> bytes);
  void snapshot_taken(result<std::shared_ptr<const snapshot>> taken);
  /// A call did not come to its end: ends all that runs, whose rows follow. What waits goes on waiting.
  void out_of_memory() noexcept;

  [[nodiscard]] statistics stats() const;
  /// Requests whose outlet got something to read since the last call, some twice. False: there was no memory
  /// to note all of them.
  [[nodiscard]] bool take_news(std::vector<job_id>& into) noexcept {
    into.clear();
    into.swap(news_);
    return !std::exchange(news_lost_, false);
  }

 private:
  [[nodiscard]] std::size_t places() const noexcept;
  [[nodiscard]] bool may_join(const job& one) const noexcept;
  [[nodiscard]] bool keeps_prefixes() const noexcept { return prefixes_ != nullptr && engine_.snapshots; }
  [[nodiscard]] bool awaits_prefix(const job& one) const;
  void begin_at_prefix(job& one, row_request& row);
  void began_at_prefix(job& one);
  [[nodiscard]] bool make_room_for(const job& one);
  void tell_of_prefix(job& one);
  [[nodiscard]] std::optional<action> leave();
  [[nodiscard]] std::optional<action> keep_prefix();
  [[nodiscard]] std::optional<action> begin_rows(instant now);
  [[nodiscard]] open_row row_for(job& one);
  [[nodiscard]] job* of(row_id row) const;
  [[nodiscard]] result<void> may_wait();
  void expire(instant now);
  void refill(instant now);
  void take_first(instant now);
  void plan_prefix(job& one) const;
  void saw(const prefilled& one);
  void got(const generated& one, instant now);
  void got(const scored& one, instant now);
  void got(const row_failure& one);
  void complete(job& one, chat::finish_reason why);
  void finish(job& one, result<answer>&& how);
  void refuse(job& one, refusal why, std::string_view message) noexcept;
  void fail_batch(const error& why);
  void row_gone(job& one);
  void cut_done(bool shared);
  void heard(const job& one, bool was_ready) noexcept;

  options how_;
  traits engine_;
  prefix_cache* prefixes_;
  waiting_queue queue_;
  collection_window window_;
  run_mode mode_ = run_mode::continuous;  ///< Of the batch.
  bool keyed_ = false;                    ///< The batch is of requests with a cache key.
  std::vector<std::unique_ptr<job>> batch_;
  std::unordered_map<row_id, job*> rows_;
  std::deque<job*> at_cut_;  ///< Rows that stand at a cut until the next step.
  job* at_ = nullptr;        ///< Whom the last action is about.
  struct snapshot_under_way {
    memory_report before;
    bool has_room;  ///< Was made already, as its size was known.
  };
  std::optional<snapshot_under_way> taking_;  ///< Of the first in at_cut_.
  bool no_room_ = false;                      ///< The engine has no place for a row until one goes.
  bool prefix_news_ = false;                  ///< Whoever awaits a prefix looks again.
  bool closing_ = false;
  job_id last_job_ = 0;
  control_id last_control_ = 0;
  statistics counted_;
  std::vector<job_id> news_;
  bool news_lost_ = false;
  std::string waited_too_long_;                   ///< The message, made while there is memory.
  std::unordered_set<std::string> keys_without_;  ///< Those told that no prefix is kept.
};

}  // namespace evalcore::engine
