#include "run/merge_store.hpp"

#include <filesystem>
#include <initializer_list>
#include <utility>

#include "run/store_file.hpp"

namespace evalcore::run {
namespace {

/// An attempt that is open in a part belongs to a process that is gone. Columns are named, since those that
/// came by an update of the schema may stand elsewhere.
constexpr const char* copy_rows[] = {
    "INSERT OR IGNORE INTO main.runs (run_id, suite_path, suite_hash, identity, options, plan, "
    "started_unix_ms,"
    " summary, probe, limits, setup) SELECT run_id, suite_path, suite_hash, identity, options, plan,"
    " started_unix_ms, summary, probe, limits, setup FROM other.runs WHERE run_id IN"
    " (SELECT run_id FROM other.attempts JOIN wanted USING (item_key, cache_key))",
    "INSERT OR IGNORE INTO main.items (item_key, item_id, epoch) SELECT item_key, items.item_id, epoch"
    " FROM other.items JOIN wanted USING (item_key)",
    "INSERT INTO main.attempts (attempt_id, run_id, item_key, cache_key, started_unix_ms, state,"
    " predicted_cached_tokens, slot, error_code, error_stage, error_message, http_status, backend_words,"
    " cost_least, cost_most, answered_by) SELECT attempt_id + ?1, run_id, item_key, cache_key, "
    "started_unix_ms,"
    " CASE state WHEN 'open' THEN 'lost' ELSE state END, predicted_cached_tokens, slot, error_code,"
    " error_stage, error_message, http_status, backend_words, cost_least, cost_most, answered_by"
    " FROM other.attempts JOIN wanted USING (item_key, cache_key)",
    "INSERT INTO main.replies (reply_id, item_key, cache_key, attempt_id, body, checksum)"
    " SELECT reply_id + ?1, item_key, cache_key, attempt_id + ?1, body, checksum"
    " FROM other.replies JOIN wanted USING (item_key, cache_key)",
    "INSERT INTO main.scores (reply_id, value, extracted, reason, checksum)"
    " SELECT reply_id + ?1, value, extracted, reason, scores.checksum"
    " FROM other.scores JOIN other.replies USING (reply_id) JOIN wanted USING (item_key, cache_key)",
    "UPDATE wanted SET part = ?1 WHERE (item_key, cache_key) IN (SELECT item_key, cache_key FROM "
    "other.replies)",
};

std::string plain_name(const std::string& path) { return path.starts_with('/') ? path : "./" + path; }

}  // namespace

result<std::vector<stored_run>> runs_of(const std::string& path) {
  auto database = open_store_file_to_read(path);
  if (!database) return std::move(database).error();
  auto rows = database->prepare(
      "SELECT suite_path, suite_hash, identity, setup, probe, run_id, options, started_unix_ms,"
      " coalesce(json_extract(summary, '$.wall_s'), 0.0), (SELECT total(json_extract(summary, "
      "'$.wall_s'))"
      " FROM runs AS all_runs WHERE all_runs.suite_hash = runs.suite_hash AND all_runs.identity = "
      "runs.identity)"
      " FROM runs ORDER BY rowid DESC");
  if (!rows) return std::move(rows).error();
  std::vector<stored_run> all;
  for (;;) {
    auto row = rows->next();
    if (!row) return std::move(row).error();
    if (!*row) return all;
    const auto text = [&](int column) { return std::string(rows->text(column)); };
    all.push_back({text(0), text(1), text(2), text(3), text(4), text(5), text(6), rows->integer(7),
                   rows->real(9), rows->real(8)});
  }
}

void remove_store(const std::string& path) noexcept {
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(path + ending, ignored);
  }
}

merge_store::merge_store(sql_database database, std::string path)
    : path_(std::move(path)), database_(std::move(database)) {}

merge_store::merge_store(merge_store&& other) noexcept
    : path_(std::move(other.path_)),
      database_(std::move(other.database_)),
      want_(std::move(other.want_)),
      parts_(std::move(other.parts_)),
      kept_(std::exchange(other.kept_, true)) {}

merge_store::~merge_store() {
  if (!kept_) remove_store(path_);
}

result<merge_store> merge_store::create(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) {
    return fail(errc::invalid_argument, stage::store,
                path + " exists already; name a folder without a run, or remove the file");
  }
  auto database = open_store_file(path);
  if (!database) return std::move(database).error();
  merge_store made(*std::move(database), path);
  auto ready = made.database_.execute(
      "CREATE TEMP TABLE wanted (item_key TEXT NOT NULL, cache_key TEXT NOT NULL, item_id TEXT NOT NULL,"
      " part INTEGER, PRIMARY KEY (item_key, cache_key)) STRICT, WITHOUT ROWID");
  if (!ready) return std::move(ready).error();
  auto insert = made.database_.prepare("INSERT INTO wanted (item_key, cache_key, item_id) VALUES (?, ?, ?)");
  if (!insert) return std::move(insert).error();
  made.want_ = *std::move(insert);
  return made;
}

result<void> merge_store::want(const item_record& one) {
  return want_.bind(one.item_key).bind(one.cache_key).bind(one.item_id).run();
}

result<void> merge_store::add(const std::string& part) {
  // SQLite can attach only what it may write, and would not say that by the part's name.
  if (auto writable = open_store_file(part); !writable) return std::move(writable).error();
  {
    auto attach = database_.prepare("ATTACH ? AS other");
    if (!attach) return std::move(attach).error();
    if (auto attached = attach->bind(plain_name(part)).run(); !attached) return attached;
  }
  if (auto copied = copy(part); !copied) return copied;
  parts_.push_back(part);
  return database_.execute("DETACH other");
}

result<void> merge_store::copy(const std::string& part) {
  auto begun = transaction::begin(database_);
  if (!begun) return std::move(begun).error();
  auto twice = database_.prepare(
      "SELECT item_id, min(part), count(*) OVER () FROM wanted JOIN other.replies USING (item_key, cache_key)"
      " WHERE part IS NOT NULL GROUP BY item_id ORDER BY item_id LIMIT 1");
  if (!twice) return std::move(twice).error();
  auto overlap = twice->next();
  if (!overlap) return std::move(overlap).error();
  if (*overlap) {
    const auto others = twice->integer(2) - 1;
    return fail(errc::invalid_argument, stage::store,
                "item \"" + std::string(twice->text(0)) + "\"" +
                    (others > 0 ? " and " + std::to_string(others) + " more are" : " is") + " answered in " +
                    parts_.at(static_cast<std::size_t>(twice->integer(1))) + " and in " + part +
                    "; shards have no item in common, so leave one of the files out");
  }
  auto base = database_.ask(
      "SELECT max(coalesce((SELECT max(attempt_id) FROM main.attempts), 0),"
      " coalesce((SELECT max(reply_id) FROM main.replies), 0))");
  if (!base) return std::move(base).error();
  for (const std::string_view sql : copy_rows) {
    auto step = database_.prepare(sql);
    if (!step) return std::move(step).error();
    const bool marks = sql.starts_with("UPDATE");
    if (sql.find("?1") != std::string_view::npos) {
      step->bind(marks ? static_cast<std::int64_t>(parts_.size()) : *base);
    }
    if (auto copied = step->run(); !copied) return copied;
  }
  return begun->commit();
}

result<merge_store::history> merge_store::attempts() {
  history out;
  auto rows = database_.prepare(
      "SELECT item_key, coalesce(error_code, ''), state, part IS NOT NULL"
      " FROM attempts JOIN wanted USING (item_key, cache_key) WHERE answered_by IS NULL"
      " ORDER BY started_unix_ms, attempt_id");
  if (!rows) return std::move(rows).error();
  for (;;) {
    auto row = rows->next();
    if (!row) return std::move(row).error();
    if (!*row) break;
    const std::string code(rows->text(1));
    out.attempts += 1;
    if (rows->text(2) == "failed") out.failed_attempts[code] += 1;
    if (rows->integer(3) == 0) out.last_failure[std::string(rows->text(0))] = code;
  }
  auto items = database_.ask("SELECT count(DISTINCT item_key) FROM attempts WHERE answered_by IS NULL");
  if (!items) return std::move(items).error();
  out.items = static_cast<std::uint64_t>(*items);
  return out;
}

}  // namespace evalcore::run
