#include "run/store_sql.hpp"

#include <sqlite3.h>

#include <utility>

namespace evalcore::run {

error sql_error(sqlite3* database, int code, const std::string& path) {
  const std::string what = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::busy, stage::store,
                  "store " + path + " is in use by another process; wait for it or give another --store");
    case SQLITE_FULL:
      return fail(
          errc::storage, stage::store,
          "store " + path + ": the disk is full; free space and run again, what was committed is kept");
    case SQLITE_NOTADB:
      return fail(errc::storage, stage::store,
                  path + " is not an evalcore store (" + what + "); give another --store");
    case SQLITE_CORRUPT:
      return fail(errc::storage, stage::store,
                  "store " + path + " is damaged (" + what + "); restore a copy or give another --store");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return fail(errc::storage, stage::store,
                  "cannot write store " + path + " (" + what + "); check the rights on it and on its folder");
    case SQLITE_IOERR:
      return fail(errc::storage, stage::store,
                  "store " + path + " cannot be read or written (" + what +
                      "); what was committed is kept, mend the disk and run again");
    case SQLITE_NOMEM:
      return fail(errc::no_memory, stage::store, "store " + path + ": " + what);
    default:
      return fail(errc::storage, stage::store, "store " + path + ": " + what);
  }
}

statement::~statement() { sqlite3_finalize(handle_); }

statement::statement(statement&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(other.path_), bound_(other.bound_) {}

statement& statement::operator=(statement&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(bound_, other.bound_);
  return *this;
}

// A failed bind shows as a missing value, which every NOT NULL column refuses when the statement runs.
statement& statement::bind(std::string_view text) {
  sqlite3_bind_text64(handle_, ++bound_, text.data() != nullptr ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}
statement& statement::bind(std::int64_t number) {
  sqlite3_bind_int64(handle_, ++bound_, number);
  return *this;
}
statement& statement::bind(double number) {
  sqlite3_bind_double(handle_, ++bound_, number);
  return *this;
}
statement& statement::bind_null() {
  sqlite3_bind_null(handle_, ++bound_);
  return *this;
}

result<void> statement::run() {
  auto row = next();
  reset();
  return row ? result<void>{} : std::move(row).error();
}

result<bool> statement::next() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  auto failure = sql_error(sqlite3_db_handle(handle_), code, *path_);
  reset();
  return failure;
}

void statement::reset() noexcept {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  bound_ = 0;
}

bool statement::is_null(int column) const noexcept {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
std::string_view statement::text(int column) const noexcept {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}
std::int64_t statement::integer(int column) const noexcept { return sqlite3_column_int64(handle_, column); }
double statement::real(int column) const noexcept { return sqlite3_column_double(handle_, column); }

void sql_database::closer::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }

sql_database::sql_database(sqlite3* handle, std::string path)
    : path_(std::make_unique<const std::string>(std::move(path))), handle_(handle) {}

result<sql_database> sql_database::open(const std::string& path) {
  // A leading ':' or "file:" would mean something else to SQLite than to the file system.
  return open_as(path, path.starts_with('/') ? path : "./" + path, SQLITE_OPEN_READWRITE);
}

result<sql_database> sql_database::open_unchanging(const std::string& path) {
  std::string name = path.starts_with('/') ? "file://" : "file:./";
  for (const char c : path) {
    if (c == '%') {
      name += "%25";
    } else if (c == '?') {
      name += "%3f";
    } else if (c == '#') {
      name += "%23";
    } else {
      name += c;
    }
  }
  return open_as(path, name + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

result<sql_database> sql_database::open_as(const std::string& path, const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  sql_database database(handle, path);
  if (code != SQLITE_OK) return sql_error(handle, code, path);
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

result<void> sql_database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? result<void>{} : sql_error(handle_.get(), code, path());
}

result<statement> sql_database::prepare(std::string_view sql) {
  statement out;
  out.path_ = path_.get();
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &out.handle_, nullptr);
  if (code != SQLITE_OK) return sql_error(handle_.get(), code, path());
  return out;
}

result<std::int64_t> sql_database::ask(std::string_view sql) {
  auto query = prepare(sql);
  if (!query) return std::move(query).error();
  auto row = query->next();
  if (!row) return std::move(row).error();
  return *row ? query->integer(0) : 0;
}

std::int64_t sql_database::changes() const noexcept { return sqlite3_changes64(handle_.get()); }
std::int64_t sql_database::last_id() const noexcept { return sqlite3_last_insert_rowid(handle_.get()); }
bool sql_database::flush_failed() const noexcept {
  const int code = sqlite3_extended_errcode(handle_.get());
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}
void sql_database::keep_log() noexcept {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}
bool sql_database::read_only() const noexcept { return sqlite3_db_readonly(handle_.get(), "main") == 1; }

result<transaction> transaction::begin(sql_database& database) {
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return std::move(begun).error();
  return transaction(database);
}

transaction::transaction(transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

transaction::~transaction() {
  if (database_ == nullptr) return;
  // Fails only where SQLite has rolled back by itself, as it does when the disk is full.
  const auto rolled_back = database_->execute("ROLLBACK");
  static_cast<void>(rolled_back);
}

result<void> transaction::commit() {
  auto done = database_->execute("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace evalcore::run
