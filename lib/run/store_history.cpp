#include <utility>

#include <evalcore/run/store.hpp>

#include "run/store_sql.hpp"

namespace evalcore::run {
namespace {

/// Of the columns of history_of().
stored_attempt read_attempt(const statement& row) {
  const auto text = [&](int column) { return std::string(row.text(column)); };
  stored_attempt out;
  out.run_id = text(0);
  out.state = text(1);
  out.started_unix_ms = row.integer(2);
  if (!row.is_null(3)) out.predicted_cached_tokens = static_cast<std::uint64_t>(row.integer(3));
  if (!row.is_null(4)) out.slot = static_cast<std::uint32_t>(row.integer(4));
  out.error_code = text(5);
  out.error_stage = text(6);
  out.error_message = text(7);
  if (!row.is_null(8)) out.http_status = static_cast<int>(row.integer(8));
  out.backend_words = text(9);
  if (!row.is_null(10)) {
    out.cost = cost{static_cast<pico_usd>(row.integer(10)), std::nullopt};
    if (!row.is_null(11)) out.cost->most = static_cast<pico_usd>(row.integer(11));
  }
  out.answered_by = text(12);
  return out;
}

}  // namespace

result<item_history> store::history_of(const item_record& item) {
  item_history out;
  auto& kept = database();
  auto rows = kept.prepare(
      "SELECT run_id, state, started_unix_ms, predicted_cached_tokens, slot, error_code, error_stage,"
      " error_message, http_status, backend_words, cost_least, cost_most, answered_by FROM attempts"
      " WHERE item_key = ? AND cache_key = ? ORDER BY attempt_id");
  if (!rows) return std::move(rows).error();
  rows->bind(item.item_key).bind(item.cache_key);
  for (;;) {
    auto row = rows->next();
    if (!row) return std::move(row).error();
    if (!*row) break;
    out.attempts.push_back(read_attempt(*rows));
  }
  auto body = kept.prepare("SELECT body FROM replies WHERE item_key = ? AND cache_key = ?");
  if (!body) return std::move(body).error();
  auto found = body->bind(item.item_key).bind(item.cache_key).next();
  if (!found) return std::move(found).error();
  if (*found) out.reply_body = body->text(0);
  return out;
}

}  // namespace evalcore::run
