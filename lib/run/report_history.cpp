#include "run/report_history.hpp"

#include <utility>

#include "run/store_file.hpp"

namespace evalcore::run {
namespace {

template <class Read>
result<void> each_row(sql_database& from, std::string_view sql, const part& one, const Read& read) {
  auto rows = from.prepare(sql);
  if (!rows) return std::move(rows).error();
  rows->bind(one.run.suite_hash).bind(one.run.identity);
  for (;;) {
    auto row = rows->next();
    if (!row) return std::move(row).error();
    if (!*row) return {};
    read(*rows);
  }
}

}  // namespace

result<report_history> history_of(const part& one) {
  auto database = open_store_file_to_read(one.path);
  if (!database) return std::move(database).error();
  report_history out;
  auto read = each_row(
      *database,
      "SELECT started_unix_ms, limits FROM runs WHERE suite_hash = ? AND identity = ?"
      " ORDER BY started_unix_ms, rowid",
      one, [&](const statement& row) { out.runs.push_back({row.integer(0), std::string(row.text(1))}); });
  if (!read) return std::move(read).error();
  // Beside max() SQLite takes the other columns from the row that has it.
  read = each_row(
      *database,
      "SELECT error_code, count(*), error_message, max(attempt_id) FROM attempts JOIN runs USING (run_id)"
      " WHERE suite_hash = ? AND identity = ? AND state = 'failed' GROUP BY error_code ORDER BY error_code",
      one, [&](const statement& row) {
        out.failures.push_back(
            {std::string(row.text(0)), static_cast<std::uint64_t>(row.integer(1)), std::string(row.text(2))});
      });
  if (!read) return std::move(read).error();
  return out;
}

}  // namespace evalcore::run
