#pragma once

#include <array>
#include <cstdint>

namespace evalcore::run {

/// "evlc": tells a store from any other SQLite file.
inline constexpr std::int64_t store_application_id = 0x65766C63;
/// Kept in user_version. A change of the tables raises it and comes with the step from the one before.
inline constexpr std::int64_t store_schema_version = 6;

/// An episode is a conversation; its turns are items whose replies are where all replies are. What a turn
/// adds to the request before it is kept for the trace.
inline constexpr const char* episode_tables = R"sql(
CREATE TABLE episodes (
  episode_key TEXT NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs,
  suite_hash TEXT NOT NULL,
  episode_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  ended TEXT,
  outcome TEXT,
  checksum TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
  episode_key TEXT NOT NULL REFERENCES episodes,
  turn INTEGER NOT NULL,
  item_key TEXT NOT NULL,
  cache_key TEXT NOT NULL,
  added TEXT NOT NULL,
  checksum TEXT NOT NULL,
  PRIMARY KEY (episode_key, turn)
) STRICT, WITHOUT ROWID;
)sql";

/// The steps, each from the schema with its number (the first is 1) to the next.
inline constexpr std::array store_steps{
    "ALTER TABLE runs ADD COLUMN probe TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE runs ADD COLUMN limits TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE attempts ADD COLUMN cost_least INTEGER; ALTER TABLE attempts ADD COLUMN cost_most INTEGER;"
    "ALTER TABLE runs ADD COLUMN setup TEXT NOT NULL DEFAULT '{}'",
    episode_tables,
    "ALTER TABLE attempts ADD COLUMN answered_by TEXT; CREATE INDEX replies_of_request ON replies "
    "(cache_key)",
};
static_assert(store_steps.size() + 1 == store_schema_version);

/// A reply belongs to what was asked for (item_key) and of whom (cache_key), so that one file can hold
/// the answers of several models to the same suite. An attempt that is `open` belongs to the living process;
/// opening the store turns what an earlier one left so into `lost`. Of a list (IN) SQLite makes a table for
/// each row that it checks.
inline constexpr const char* store_tables = R"sql(
CREATE TABLE runs (
  run_id TEXT NOT NULL PRIMARY KEY,
  suite_path TEXT NOT NULL,
  suite_hash TEXT NOT NULL,
  identity TEXT NOT NULL,
  options TEXT NOT NULL,
  plan TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  summary TEXT,
  probe TEXT NOT NULL DEFAULT '{}',
  limits TEXT NOT NULL DEFAULT '[]',
  setup TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE items (
  item_key TEXT NOT NULL PRIMARY KEY,
  item_id TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  attempt_id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs,
  item_key TEXT NOT NULL REFERENCES items,
  cache_key TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state = 'open' OR state = 'replied' OR state = 'failed' OR state = 'lost'),
  predicted_cached_tokens INTEGER,
  slot INTEGER,
  error_code TEXT,
  error_stage TEXT,
  error_message TEXT,
  http_status INTEGER,
  backend_words TEXT,
  cost_least INTEGER,
  cost_most INTEGER,
  answered_by TEXT
) STRICT;
CREATE INDEX attempts_open ON attempts (item_key, cache_key) WHERE state = 'open';
CREATE INDEX attempts_lost ON attempts (item_key, cache_key) WHERE state = 'lost';

CREATE TABLE replies (
  reply_id INTEGER PRIMARY KEY,
  item_key TEXT NOT NULL REFERENCES items,
  cache_key TEXT NOT NULL,
  attempt_id INTEGER NOT NULL REFERENCES attempts,
  body TEXT NOT NULL,
  checksum TEXT NOT NULL,
  UNIQUE (item_key, cache_key)
) STRICT;
CREATE INDEX replies_of_request ON replies (cache_key);

CREATE TABLE scores (
  reply_id INTEGER PRIMARY KEY REFERENCES replies,
  value REAL,
  extracted TEXT NOT NULL,
  reason TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT;
)sql";

}  // namespace evalcore::run
