#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace evalcore::run {

/// An SQLite result code as an error that names the file and, where there is one, the mend.
[[nodiscard]] error sql_error(sqlite3* database, int code, const std::string& path);

/// A prepared statement. Parameters are bound in order from the first; a bound text must live until run(),
/// next() or reset() has returned. Usable again after reset(), which run() does by itself.
class statement {
 public:
  statement() = default;
  ~statement();
  statement(statement&& other) noexcept;
  statement& operator=(statement&& other) noexcept;

  statement& bind(std::string_view text);
  statement& bind(std::int64_t number);
  statement& bind(double number);
  statement& bind_null();
  template <class T>
  statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  /// Executes a statement that gives no rows.
  result<void> run();
  /// True when there is a row; after false or an error the statement is reset.
  result<bool> next();
  void reset() noexcept;

  // Of the current row, until the next call of next() or reset().
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::string_view text(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] double real(int column) const noexcept;

 private:
  friend class sql_database;
  sqlite3_stmt* handle_ = nullptr;
  const std::string* path_ = nullptr;
  int bound_ = 0;
};

/// One connection. Statements must go before it.
class sql_database {
 public:
  /// Errors: storage, busy.
  [[nodiscard]] static result<sql_database> open(const std::string& path);
  /// To read a file that nobody changes meanwhile and that has no log: without locks, and with nothing made
  /// beside it. Errors: as open().
  [[nodiscard]] static result<sql_database> open_unchanging(const std::string& path);

  /// Statements without parameters and rows, one or several.
  result<void> execute(const char* sql);
  [[nodiscard]] result<statement> prepare(std::string_view sql);
  /// The integer that a query of one row and one column gives.
  [[nodiscard]] result<std::int64_t> ask(std::string_view sql);
  [[nodiscard]] std::int64_t changes() const noexcept;
  /// Of the row that was inserted last.
  [[nodiscard]] std::int64_t last_id() const noexcept;
  [[nodiscard]] bool read_only() const noexcept;
  /// Whether the last error was that of a flush to the disk.
  [[nodiscard]] bool flush_failed() const noexcept;
  /// Leaves the log beside the file at the end, for the next one who opens it to recover from.
  void keep_log() noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return *path_; }

 private:
  struct closer {
    void operator()(sqlite3* handle) const noexcept;
  };
  sql_database(sqlite3* handle, std::string path);
  [[nodiscard]] static result<sql_database> open_as(const std::string& path, const std::string& name,
                                                    int flags);
  std::unique_ptr<const std::string> path_;  ///< Statements point to it.
  std::unique_ptr<sqlite3, closer> handle_;
};

/// Everything between begin() and commit() happens, or nothing: rolled back unless committed.
class transaction {
 public:
  [[nodiscard]] static result<transaction> begin(sql_database& database);
  ~transaction();
  transaction(transaction&& other) noexcept;
  transaction& operator=(transaction&&) = delete;
  result<void> commit();

 private:
  explicit transaction(sql_database& database) : database_(&database) {}
  sql_database* database_;
};

}  // namespace evalcore::run
