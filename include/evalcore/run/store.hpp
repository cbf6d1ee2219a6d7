#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

class sql_database;

/// SHA-256(suite hash, item id, epoch, scorer): what is scored.
[[nodiscard]] std::string item_key(const std::string& suite_hash, const std::string& item_id,
                                   std::uint32_t epoch, const std::string& scorer);
/// SHA-256(backend identity, model, canonical request, epoch): what is asked of whom.
[[nodiscard]] std::string cache_key(const std::map<std::string, std::string>& identity,
                                    const std::string& model, const std::string& canonical_request,
                                    std::uint32_t epoch);

/// One item's keys.
struct item_record {
  std::string item_key;
  std::string cache_key;
  std::string item_id;
  std::uint32_t epoch = 0;
};

/// What is known of one run, for a person and for resume.
struct run_record {
  std::string run_id;  ///< Upper-case UUID.
  std::string suite_path;
  std::string suite_hash;
  std::map<std::string, std::string> identity;  ///< backend::info::identity.
  std::string options_json;                     ///< As given, without secrets.
  std::string plan_json;
  std::int64_t started_unix_ms = 0;
  std::string setup_json = "{}";  ///< What evalcore::run::merge() must know of it.
  std::string probe_json = "{}";  ///< What is known of the backend: backend::to_json() of its probe_report.
};

struct attempt_record {
  std::int64_t started_unix_ms = 0;
  std::optional<std::int64_t> number = {};  ///< As begin_attempt() gave it; absent: it is looked up.
  std::optional<evalcore::error> failure;   ///< Empty: it gave the reply.
  std::optional<std::uint64_t> predicted_cached_tokens;
  std::optional<std::uint32_t> slot;
  std::optional<run::cost> cost;  ///< Absent: no prices were given.
  std::string answered_by;  ///< Nothing was sent: the id of the run that was given the reply. Else empty.
};

/// A reply to a request that was sent before, be it for this item or another.
struct earlier_reply {
  chat::reply reply;
  std::string run_id;  ///< Of the run that sent the request.
};

/// An attempt as it is read back.
struct stored_attempt {
  std::string run_id;
  std::string state;  ///< "open", "replied", "failed", "lost" (its process was killed).
  std::int64_t started_unix_ms = 0;
  std::optional<std::uint64_t> predicted_cached_tokens;
  std::optional<std::uint32_t> slot;
  std::string error_code;  ///< As name(errc) and name(stage) have them; empty: it did not fail.
  std::string error_stage;
  std::string error_message;
  std::optional<int> http_status;
  std::string backend_words;
  std::optional<run::cost> cost;  ///< Absent: no prices were given.
  std::string answered_by;        ///< As in attempt_record.
};

/// All that the store has of an item.
struct item_history {
  std::vector<stored_attempt> attempts;  ///< In their order.
  std::string reply_body;                ///< The reply as its bytes stand there; empty: there is none.
};

/// A finished item as it is read back.
struct stored_reply {
  chat::reply reply;
  std::optional<score::verdict> verdict;
  std::optional<std::uint64_t> predicted_cached_tokens;
  bool priced = false;  ///< Its cost is a part of store::spent().
  /// When its request went out; absent: none did, an earlier reply stood in.
  std::optional<std::int64_t> sent_unix_ms = {};
};

/// The run store: one SQLite file in WAL mode that a kill -9 cannot hurt. Each reply is committed as it
/// arrives (synchronous=NORMAL) and carries a checksum that is verified on read; sync() makes what was
/// committed safe against a power loss.
///
/// One process has the file at a time, from open() until the store is destroyed: a second open() is refused
/// with `busy`, naming the mend. The file is created 0600. One file may hold several runs, suites and models.
///
/// Every call may fail with storage: the disk is full (nothing of that call is kept, the next one may
/// succeed), the file is damaged, or a flush failed (then nothing more is written). Threads: one at a time.
class store {
 public:
  /// Opens or creates. Attempts that an earlier process left open count as possibly paid twice from here on.
  /// Errors: busy; invalid_argument (no name); storage (no such folder, no rights, a link, not a store, a
  /// newer schema, damaged).
  [[nodiscard]] static result<store> open(const std::string& path);
  /// Opens one that is there, to read from it: nothing is created, and attempts that are open stay so. A
  /// file or folder that this process may not write will do. Errors: not_found; as open(); storage, too, for
  /// what cannot be written and is of an older schema or has a log beside it.
  [[nodiscard]] static result<store> open_to_read(const std::string& path);
  ~store();
  store(store&&) noexcept;
  store& operator=(store&&) noexcept;

  /// Begins a run, to which the attempts that follow belong. Its id must be new to the file.
  result<void> begin_run(const run_record& run);
  /// The item goes out: an open attempt that a crash leaves behind is `possibly paid twice`. Gives the
  /// attempt's number. Errors: invalid_argument before begin_run(), here and in the next two when they have
  /// an attempt to open.
  result<std::int64_t> begin_attempt(const item_record& item, const attempt_record& attempt);
  /// Commits the reply, its score and the end of its attempt in one transaction; an older reply with the same
  /// keys is replaced. Without begin_attempt() the attempt is recorded here.
  result<void> put_reply(const item_record& item, const attempt_record& attempt, const chat::reply& reply,
                         const score::verdict& verdict);
  /// The same for a reply that has no score of its own.
  result<void> put_reply(const item_record& item, const attempt_record& attempt, const chat::reply& reply);
  /// Commits a failed attempt; the item stays open and is run again on resume.
  result<void> put_failure(const item_record& item, const attempt_record& attempt);
  /// Replaces the score of a stored reply. Errors: not_found when there is none with these keys.
  result<void> put_verdict(const item_record& item, const score::verdict& verdict);
  /// Keeps how the run's limits on requests in flight have changed so far, in place of what was kept before.
  /// Errors: not_found when no such run was begun.
  result<void> put_limits(const std::string& run_id, const std::string& limits_json);
  /// Errors: not_found when no such run was begun.
  result<void> finish_run(const std::string& run_id, const std::string& summary_json);

  /// The reply of this item if both keys match; nothing when it has none. Errors: storage when the stored
  /// bytes do not match their checksum.
  [[nodiscard]] result<std::optional<stored_reply>> find(const item_record& item) const;
  /// Its attempts, and the bytes that find() reads. Errors: storage.
  [[nodiscard]] result<item_history> history_of(const item_record& item);
  /// What all attempts at this suite with this backend cost that were made with prices, those whose process
  /// was killed included.
  [[nodiscard]] result<cost> spent(const std::string& suite_hash,
                                   const std::map<std::string, std::string>& identity) const;
  /// The oldest reply to the same request that `fits`, whatever its item and run; nothing when there is none.
  /// Errors: as find().
  [[nodiscard]] result<std::optional<earlier_reply>> find_earlier(
      const std::string& cache_key, const std::function<bool(const chat::reply&)>& fits) const;
  /// The classes of the last failures, by item key and cache key, of all items that ever failed: also of
  /// those that were answered later.
  [[nodiscard]] result<std::map<std::pair<std::string, std::string>, std::string>> last_failures() const;
  /// Runs that were begun in this file.
  [[nodiscard]] result<std::uint64_t> runs() const;
  /// Items of this file that were out when an earlier process ended without an answer: the backend may have
  /// computed them, and they are or were sent again. The count stays after they got their reply.
  [[nodiscard]] result<std::uint64_t> possibly_paid_twice() const;

  /// Commits all that `work` writes here at once: what came together costs one commit. When `work`, a write
  /// in it or the commit fails, nothing of it is kept. Not to be called, nor sync(), from `work`.
  result<void> together(const std::function<result<void>()>& work);

  /// Flushes what was committed to the disk. When that fails, this and every later write fails.
  result<void> sync();

 private:
  friend class episode_store;
  struct impl;
  [[nodiscard]] sql_database& database() noexcept;
  /// One transaction around `work`, as for every other write.
  result<void> commit(const std::function<result<void>()>& work);
  [[nodiscard]] static result<store> over(result<sql_database> database);
  explicit store(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::run
