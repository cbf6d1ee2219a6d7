#include <evalcore/run/store.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>

#include "run/store_codec.hpp"
#include "run/store_file.hpp"
#include "run/store_sql.hpp"

namespace evalcore::run {
namespace {

/// So that the log stays small under a caller who never calls sync().
constexpr int writes_without_sync = 1000;

template <class Integer>
std::optional<std::int64_t> column(const std::optional<Integer>& count) {
  return count ? std::optional<std::int64_t>(static_cast<std::int64_t>(*count)) : std::nullopt;
}

/// Two columns: an attempt without prices has neither, one that nothing bounds has no second.
void bind_cost(statement& into, const std::optional<cost>& of) {
  const auto amount = [](pico_usd one) {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(one, static_cast<pico_usd>(largest)));
  };
  into.bind(of ? std::optional(amount(of->least)) : std::nullopt);
  into.bind(of && of->most ? std::optional(amount(*of->most)) : std::nullopt);
}

/// True as long as it lives.
class marked {
 public:
  explicit marked(bool& flag) : flag_(flag) { flag_ = true; }
  ~marked() { flag_ = false; }
  marked(const marked&) = delete;
  marked& operator=(const marked&) = delete;

 private:
  bool& flag_;
};

std::string identity_text(const std::map<std::string, std::string>& identity) {
  json::object members;
  for (const auto& [key, value] : identity) members.emplace_back(key, value);
  return json::to_text(members);
}

}  // namespace

std::string item_key(const std::string& suite_hash, const std::string& item_id, std::uint32_t epoch,
                     const std::string& scorer) {
  return sha256().piece(suite_hash).piece(item_id).piece(std::to_string(epoch)).piece(scorer).hex();
}

std::string cache_key(const std::map<std::string, std::string>& identity, const std::string& model,
                      const std::string& canonical_request, std::uint32_t epoch) {
  sha256 hash;
  for (const auto& [key, value] : identity) hash.piece(key).piece(value);
  return hash.piece(model).piece(canonical_request).piece(std::to_string(epoch)).hex();
}

struct store::impl {
  sql_database database;
  statement add_run;
  statement end_run;
  statement set_limits;
  statement add_item;
  statement add_attempt;
  statement find_open;
  statement close_attempt;
  statement put_reply;
  statement find_reply_id;
  statement put_score;
  statement find_reply;
  statement find_same_request;
  statement count_lost;
  statement sum_costs;

  std::string run_id;  ///< Empty before begin_run().
  int unsynced = 0;    ///< Writes.
  bool grouping = false;
  std::optional<error> failed_in_group;
  std::optional<error>
      broken;  ///< A flush failed: the kernel may have dropped what a second one would claim to have written.

  explicit impl(sql_database opened) : database(std::move(opened)) {}

  result<void> prepare() {
    const std::pair<statement*, std::string_view> all[] = {
        {&add_run,
         "INSERT INTO runs (run_id, suite_path, suite_hash, identity, options, plan, started_unix_ms, probe, "
         "setup)"
         " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&end_run, "UPDATE runs SET summary = ? WHERE run_id = ?"},
        {&set_limits, "UPDATE runs SET limits = ? WHERE run_id = ?"},
        {&add_item, "INSERT INTO items (item_key, item_id, epoch) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"},
        {&add_attempt,
         "INSERT INTO attempts (run_id, item_key, cache_key, started_unix_ms, cost_least, cost_most, state)"
         " VALUES (?, ?, ?, ?, ?, ?, 'open')"},
        {&find_open,
         "SELECT max(attempt_id) FROM attempts WHERE item_key = ? AND cache_key = ? AND state = 'open'"},
        {&close_attempt,
         "UPDATE attempts SET state = ?, predicted_cached_tokens = ?, slot = ?, error_code = ?, error_stage "
         "= ?,"
         " error_message = ?, http_status = ?, backend_words = ?, cost_least = ?, cost_most = ?, answered_by "
         "= ?"
         " WHERE attempt_id = ?"},
        {&put_reply,
         "INSERT INTO replies (item_key, cache_key, attempt_id, body, checksum) VALUES (?, ?, ?, ?, ?)"
         " ON CONFLICT (item_key, cache_key) DO UPDATE SET"
         " attempt_id = excluded.attempt_id, body = excluded.body, checksum = excluded.checksum"
         " RETURNING reply_id"},
        {&find_reply_id, "SELECT reply_id FROM replies WHERE item_key = ? AND cache_key = ?"},
        {&put_score,
         "INSERT INTO scores (reply_id, value, extracted, reason, checksum) VALUES (?, ?, ?, ?, ?)"
         " ON CONFLICT (reply_id) DO UPDATE SET value = excluded.value, extracted = excluded.extracted,"
         " reason = excluded.reason, checksum = excluded.checksum"},
        // LEFT JOIN, so that a reply does not go missing with a row that only tells more of it.
        {&find_reply,
         "SELECT body, replies.checksum, predicted_cached_tokens,"
         " scores.checksum, value, extracted, reason, cost_least,"
         " CASE WHEN answered_by IS NULL THEN started_unix_ms END"
         " FROM replies LEFT JOIN attempts USING (attempt_id) LEFT JOIN scores USING (reply_id)"
         " WHERE replies.item_key = ? AND replies.cache_key = ?"},
        {&find_same_request,
         "SELECT body, checksum, replies.item_key, item_id, coalesce(answered_by, run_id)"
         " FROM replies LEFT JOIN attempts USING (attempt_id) LEFT JOIN items ON items.item_key = "
         "replies.item_key"
         " WHERE replies.cache_key = ? ORDER BY reply_id"},
        {&count_lost,
         "SELECT count(*) FROM (SELECT DISTINCT item_key, cache_key FROM attempts WHERE state = 'lost')"},
        {&sum_costs,
         "SELECT total(cost_least), total(cost_most), count(cost_least) - count(cost_most)"
         " FROM attempts JOIN runs USING (run_id) WHERE suite_hash = ? AND identity = ?"},
    };
    for (const auto& [into, sql] : all) {
      auto prepared = database.prepare(sql);
      if (!prepared) return std::move(prepared).error();
      *into = *std::move(prepared);
    }
    return {};
  }

  /// One transaction around `work`, unless it is a part of a group, which has its own.
  template <class Work>
  result<void> commit(const Work& work) {
    if (broken) return *broken;
    ++unsynced;
    if (grouping) {
      result<void> done = work();
      if (!done && !failed_in_group) failed_in_group = done.error();
      return done;
    }
    auto begun = transaction::begin(database);
    if (!begun) return std::move(begun).error();
    if (result<void> done = work(); !done) return done;
    if (auto committed = begun->commit(); !committed) return committed;
    return unsynced < writes_without_sync ? result<void>{} : sync();
  }

  result<void> together(const std::function<result<void>()>& work) {
    return commit([&]() -> result<void> {
      result<void> done;
      {
        const marked here(grouping);
        done = work();
      }
      // Half of a write must not be kept, whatever `work` makes of its failure.
      if (auto failed = std::exchange(failed_in_group, std::nullopt); failed && done)
        return *std::move(failed);
      return done;
    });
  }

  result<void> sync() {
    if (broken) return *broken;
    if (auto done = database.execute("PRAGMA wal_checkpoint(PASSIVE)"); !done) {
      if (!database.flush_failed()) return done;
      broken = std::move(done).error();
      broken->message += "; nothing more is written to it";
      database.keep_log();
      return *broken;
    }
    unsynced = 0;
    return {};
  }

  /// Gives its number.
  result<std::int64_t> open_attempt(const item_record& item, const attempt_record& attempt) {
    if (run_id.empty())
      return fail(errc::invalid_argument, stage::store, "an attempt needs begin_run() first");
    auto known = add_item.bind(item.item_key).bind(item.item_id).bind(std::int64_t{item.epoch}).run();
    if (!known) return std::move(known).error();
    add_attempt.bind(run_id).bind(item.item_key).bind(item.cache_key).bind(attempt.started_unix_ms);
    bind_cost(add_attempt, attempt.cost);
    if (auto added = add_attempt.run(); !added) return std::move(added).error();
    return database.last_id();
  }

  /// Ends the attempt that begin_attempt() opened, or one that is opened here; gives its number.
  result<std::int64_t> end_attempt(const item_record& item, const attempt_record& attempt,
                                   std::string_view state) {
    auto id = attempt.number;
    if (!id) {
      auto open = find_open.bind(item.item_key).bind(item.cache_key).next();
      if (!open) return std::move(open).error();
      if (*open && !find_open.is_null(0)) id = find_open.integer(0);
      find_open.reset();
    }
    if (!id) {
      auto opened = open_attempt(item, attempt);
      if (!opened) return opened;
      id = *opened;
    }
    close_attempt.bind(state).bind(column(attempt.predicted_cached_tokens)).bind(column(attempt.slot));
    if (attempt.failure) {
      close_attempt.bind(name(attempt.failure->code))
          .bind(name(attempt.failure->at))
          .bind(attempt.failure->message);
      close_attempt.bind(column(attempt.failure->http_status)).bind(attempt.failure->backend_words);
    } else {
      for (int unused = 0; unused < 5; ++unused) close_attempt.bind_null();
    }
    bind_cost(close_attempt, attempt.cost);
    if (attempt.answered_by.empty()) {
      close_attempt.bind_null();
    } else {
      close_attempt.bind(attempt.answered_by);
    }
    if (auto closed = close_attempt.bind(*id).run(); !closed) return std::move(closed).error();
    return *id;
  }

  /// Gives its number.
  result<std::int64_t> write_reply(const item_record& item, const attempt_record& attempt,
                                   const chat::reply& reply) {
    const auto body = encode_reply(reply);
    const auto checksum = reply_checksum(item.item_key, item.cache_key, body);
    auto ended = end_attempt(item, attempt, "replied");
    if (!ended) return std::move(ended).error();
    auto kept =
        put_reply.bind(item.item_key).bind(item.cache_key).bind(*ended).bind(body).bind(checksum).next();
    if (!kept) return std::move(kept).error();
    const auto number = put_reply.integer(0);
    put_reply.reset();
    return number;
  }

  result<std::int64_t> reply_id_of(const item_record& item) {
    auto found = find_reply_id.bind(item.item_key).bind(item.cache_key).next();
    if (!found) return std::move(found).error();
    if (!*found) {
      return fail(errc::not_found, stage::store,
                  "store " + database.path() + " has no reply of item " + item.item_id + " to score");
    }
    const auto reply_id = find_reply_id.integer(0);
    find_reply_id.reset();
    return reply_id;
  }

  result<void> change_run(statement& change, const std::string& id, const std::string& text) {
    if (auto made = change.bind(text).bind(id).run(); !made) return made;
    if (database.changes() == 1) return {};
    return fail(errc::not_found, stage::store, "store " + database.path() + " has no run " + id);
  }

  result<void> write_score(const item_record& item, std::int64_t reply_id, const score::verdict& verdict) {
    const auto checksum = verdict_checksum(item.item_key, item.cache_key, verdict);
    const auto value = verdict.scored ? std::optional<double>(verdict.value) : std::nullopt;
    return put_score.bind(reply_id)
        .bind(value)
        .bind(verdict.extracted)
        .bind(verdict.reason)
        .bind(checksum)
        .run();
  }

  [[nodiscard]] error damaged(std::string_view item_id, const std::string& how) const {
    return fail(errc::storage, stage::store,
                "store " + database.path() + " is damaged: the reply of item " + std::string(item_id) + " " +
                    how + "; restore a copy or give another --store");
  }

  [[nodiscard]] result<chat::reply> read_reply(const item_record& item, std::string_view body,
                                               std::string_view checksum) const {
    if (reply_checksum(item.item_key, item.cache_key, body) != checksum) {
      return damaged(item.item_id, "does not match its checksum");
    }
    auto reply = decode_reply(body);
    if (!reply) return damaged(item.item_id, "cannot be read (" + reply.error().message + ")");
    return reply;
  }

  /// The row that find_reply stands on.
  result<std::optional<stored_reply>> read_row(const item_record& item) const {
    auto reply = read_reply(item, find_reply.text(0), find_reply.text(1));
    if (!reply) return std::move(reply).error();
    stored_reply out{*std::move(reply), std::nullopt, std::nullopt};
    out.priced = !find_reply.is_null(7);
    if (!find_reply.is_null(8)) out.sent_unix_ms = find_reply.integer(8);
    if (!find_reply.is_null(2))
      out.predicted_cached_tokens = static_cast<std::uint64_t>(find_reply.integer(2));
    if (find_reply.is_null(3)) return std::optional(std::move(out));
    score::verdict verdict;
    verdict.scored = !find_reply.is_null(4);
    verdict.value = find_reply.real(4);
    verdict.extracted = find_reply.text(5);
    verdict.reason = find_reply.text(6);
    if (verdict_checksum(item.item_key, item.cache_key, verdict) != find_reply.text(3)) {
      return damaged(item.item_id, "has a score that does not match its checksum");
    }
    out.verdict = std::move(verdict);
    return std::optional(std::move(out));
  }
};

store::store(std::unique_ptr<impl> state) : impl_(std::move(state)) {}
store::~store() = default;
store::store(store&&) noexcept = default;
store& store::operator=(store&&) noexcept = default;

result<store> store::over(result<sql_database> database) {
  if (!database) return std::move(database).error();
  auto state = std::make_unique<impl>(*std::move(database));
  if (auto prepared = state->prepare(); !prepared) return std::move(prepared).error();
  return store(std::move(state));
}

result<store> store::open_to_read(const std::string& path) { return over(open_store_file_to_read(path)); }

result<store> store::open(const std::string& path) {
  auto opened = over(open_store_file(path));
  if (!opened) return opened;
  // This process is alone with the file, so whoever opened these attempts is gone.
  auto swept = opened->impl_->database.execute("UPDATE attempts SET state = 'lost' WHERE state = 'open'");
  if (!swept) return std::move(swept).error();
  return opened;
}

result<void> store::begin_run(const run_record& run) {
  const auto identity = identity_text(run.identity);
  auto begun = impl_->commit([&] {
    return impl_->add_run.bind(run.run_id)
        .bind(run.suite_path)
        .bind(run.suite_hash)
        .bind(identity)
        .bind(run.options_json)
        .bind(run.plan_json)
        .bind(run.started_unix_ms)
        .bind(run.probe_json)
        .bind(run.setup_json)
        .run();
  });
  if (begun) impl_->run_id = run.run_id;
  return begun;
}

result<std::int64_t> store::begin_attempt(const item_record& item, const attempt_record& attempt) {
  std::int64_t number = 0;
  auto begun = impl_->commit([&]() -> result<void> {
    auto opened = impl_->open_attempt(item, attempt);
    if (!opened) return std::move(opened).error();
    number = *opened;
    return {};
  });
  if (!begun) return std::move(begun).error();
  return number;
}

result<void> store::put_reply(const item_record& item, const attempt_record& attempt,
                              const chat::reply& reply, const score::verdict& verdict) {
  return impl_->commit([&]() -> result<void> {
    auto kept = impl_->write_reply(item, attempt, reply);
    return kept ? impl_->write_score(item, *kept, verdict) : std::move(kept).error();
  });
}

result<void> store::put_reply(const item_record& item, const attempt_record& attempt,
                              const chat::reply& reply) {
  return impl_->commit([&]() -> result<void> {
    auto kept = impl_->write_reply(item, attempt, reply);
    return kept ? result<void>{} : std::move(kept).error();
  });
}

result<void> store::put_failure(const item_record& item, const attempt_record& attempt) {
  return impl_->commit([&]() -> result<void> {
    auto ended = impl_->end_attempt(item, attempt, "failed");
    return ended ? result<void>{} : std::move(ended).error();
  });
}

result<void> store::put_verdict(const item_record& item, const score::verdict& verdict) {
  return impl_->commit([&]() -> result<void> {
    auto reply_id = impl_->reply_id_of(item);
    return reply_id ? impl_->write_score(item, *reply_id, verdict) : std::move(reply_id).error();
  });
}

result<void> store::put_limits(const std::string& run_id, const std::string& limits_json) {
  return impl_->commit([&] { return impl_->change_run(impl_->set_limits, run_id, limits_json); });
}

result<void> store::finish_run(const std::string& run_id, const std::string& summary_json) {
  return impl_->commit([&] { return impl_->change_run(impl_->end_run, run_id, summary_json); });
}

result<std::optional<stored_reply>> store::find(const item_record& item) const {
  auto found = impl_->find_reply.bind(item.item_key).bind(item.cache_key).next();
  if (!found) return std::move(found).error();
  if (!*found) return std::optional<stored_reply>();
  auto out = impl_->read_row(item);
  impl_->find_reply.reset();
  return out;
}

result<std::optional<earlier_reply>> store::find_earlier(
    const std::string& cache_key, const std::function<bool(const chat::reply&)>& fits) const {
  auto& rows = impl_->find_same_request;
  rows.bind(cache_key);
  for (;;) {
    auto found = rows.next();
    if (!found) return std::move(found).error();
    if (!*found) return std::optional<earlier_reply>();
    const item_record item{std::string(rows.text(2)), cache_key, std::string(rows.text(3))};
    auto reply = impl_->read_reply(item, rows.text(0), rows.text(1));
    if (reply && !fits(*reply)) continue;
    std::string run_id(rows.text(4));
    rows.reset();
    if (!reply) return std::move(reply).error();
    return std::optional(earlier_reply{*std::move(reply), std::move(run_id)});
  }
}

result<std::map<std::pair<std::string, std::string>, std::string>> store::last_failures() const {
  auto rows = impl_->database.prepare(
      "SELECT item_key, cache_key, error_code FROM attempts WHERE state = 'failed' ORDER BY attempt_id");
  if (!rows) return std::move(rows).error();
  std::map<std::pair<std::string, std::string>, std::string> out;
  for (;;) {
    auto row = rows->next();
    if (!row) return std::move(row).error();
    if (!*row) return out;
    out.insert_or_assign({std::string(rows->text(0)), std::string(rows->text(1))}, rows->text(2));
  }
}

result<std::uint64_t> store::runs() const {
  auto counted = impl_->database.ask("SELECT count(*) FROM runs");
  if (!counted) return std::move(counted).error();
  return static_cast<std::uint64_t>(*counted);
}

result<std::uint64_t> store::possibly_paid_twice() const {
  auto counted = impl_->count_lost.next();
  if (!counted) return std::move(counted).error();
  const auto items = static_cast<std::uint64_t>(impl_->count_lost.integer(0));
  impl_->count_lost.reset();
  return items;
}

result<cost> store::spent(const std::string& suite_hash,
                          const std::map<std::string, std::string>& identity) const {
  const auto who = identity_text(identity);
  auto& sum = impl_->sum_costs;
  auto summed = sum.bind(suite_hash).bind(who).next();
  if (!summed) return std::move(summed).error();
  cost out{static_cast<pico_usd>(sum.real(0)), static_cast<pico_usd>(sum.real(1))};
  if (sum.integer(2) > 0) out.most.reset();
  sum.reset();
  return out;
}

result<void> store::together(const std::function<result<void>()>& work) { return impl_->together(work); }

result<void> store::sync() { return impl_->sync(); }

sql_database& store::database() noexcept { return impl_->database; }

result<void> store::commit(const std::function<result<void>()>& work) { return impl_->commit(work); }

}  // namespace evalcore::run
