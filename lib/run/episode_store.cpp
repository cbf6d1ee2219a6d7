#include "run/episode_store.hpp"

#include <string_view>
#include <utility>

#include <evalcore/base/hash.hpp>

namespace evalcore::run {
namespace {

std::string end_checksum(const std::string& key, std::string_view why, std::string_view outcome) {
  return sha256().piece(key).piece(why).piece(outcome).hex();
}

std::string turn_checksum(const std::string& key, const turn_record& of) {
  return sha256()
      .piece(key)
      .piece(std::to_string(of.turn))
      .piece(of.item.item_key)
      .piece(of.item.cache_key)
      .piece(of.added)
      .hex();
}

errc code_from(std::string_view text) {
  for (std::int32_t number = 1; number < 100; ++number) {
    if (name(static_cast<errc>(number)) == text) return static_cast<errc>(number);
  }
  return errc::internal;
}

}  // namespace

result<episode_store> episode_store::open(store& of) {
  episode_store made(of);
  const std::pair<statement*, std::string_view> all[] = {
      {&made.put_episode_,
       "INSERT INTO episodes (episode_key, run_id, suite_hash, episode_id, epoch, ended, outcome, checksum)"
       " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (episode_key) DO UPDATE SET run_id = excluded.run_id,"
       " ended = excluded.ended, outcome = excluded.outcome, checksum = excluded.checksum"},
      {&made.find_episode_, "SELECT ended, outcome, checksum FROM episodes WHERE episode_key = ?"},
      {&made.list_episodes_,
       "SELECT episode_key, episode_id, epoch FROM episodes WHERE suite_hash = ?"
       " ORDER BY episode_id, epoch, episode_key"},
      {&made.put_turn_,
       "INSERT INTO turns (episode_key, turn, item_key, cache_key, added, checksum) VALUES (?, ?, ?, ?, ?, ?)"
       " ON CONFLICT (episode_key, turn) DO UPDATE SET item_key = excluded.item_key,"
       " cache_key = excluded.cache_key, added = excluded.added, checksum = excluded.checksum"},
      {&made.find_turns_,
       "SELECT turn, item_key, cache_key, added, checksum FROM turns WHERE episode_key = ? ORDER BY turn"},
      {&made.find_attempts_,
       "SELECT count(*), max(attempt_id), started_unix_ms, state, error_code, error_message FROM attempts"
       " WHERE item_key = ? AND cache_key = ?"},
      {&made.drop_replies_,
       "DELETE FROM replies WHERE (item_key, cache_key) IN"
       " (SELECT item_key, cache_key FROM turns WHERE episode_key = ? AND turn >= ?)"},
      {&made.drop_turns_, "DELETE FROM turns WHERE episode_key = ? AND turn >= ?"},
  };
  for (const auto& [into, sql] : all) {
    auto prepared = of.database().prepare(sql);
    if (!prepared) return std::move(prepared).error();
    *into = *std::move(prepared);
  }
  return made;
}

error episode_store::damaged(const episode_record& which, const std::string& what) const {
  return fail(errc::storage, stage::store,
              "store " + store_->database().path() + " is damaged: " + what + " of episode " + which.id +
                  " does not match its checksum; restore a copy or give another --store");
}

result<std::optional<stored_end>> episode_store::end_of(const episode_record& which) {
  auto found = find_episode_.bind(which.key).next();
  if (!found) return std::move(found).error();
  if (!*found) return std::optional<stored_end>();
  std::optional<stored_end> end;
  bool sound = true;
  if (!find_episode_.is_null(0)) {
    const auto why = episode_end_from(find_episode_.text(0));
    end = stored_end{why.value_or(episode_end::errored), std::string(find_episode_.text(1))};
    sound = why && end_checksum(which.key, find_episode_.text(0), end->outcome_json) == find_episode_.text(2);
  }
  find_episode_.reset();
  if (!sound) return damaged(which, "the end");
  return end;
}

result<std::vector<turn_record>> episode_store::turns_of(const episode_record& which) {
  std::vector<turn_record> all;
  find_turns_.bind(which.key);
  for (;;) {
    auto row = find_turns_.next();
    if (!row) return std::move(row).error();
    if (!*row) return all;
    turn_record one;
    one.turn = static_cast<std::uint32_t>(find_turns_.integer(0));
    one.item = {std::string(find_turns_.text(1)), std::string(find_turns_.text(2)), which.id, which.epoch};
    one.added = find_turns_.text(3);
    if (turn_checksum(which.key, one) != find_turns_.text(4)) {
      find_turns_.reset();
      return damaged(which, "turn " + std::to_string(one.turn));
    }
    all.push_back(std::move(one));
  }
}

result<std::vector<traced_turn>> episode_store::trace_of(const episode_record& which) {
  auto turns = turns_of(which);
  if (!turns) return std::move(turns).error();
  std::vector<traced_turn> all;
  for (auto& turn : *turns) {
    traced_turn one{std::move(turn), std::nullopt, 0, 0, std::nullopt};
    auto stored = store_->find(one.record.item);
    if (!stored) return std::move(stored).error();
    if (*stored) one.reply = std::move((*stored)->reply);
    auto tried = find_attempts_.bind(one.record.item.item_key).bind(one.record.item.cache_key).next();
    if (!tried) return std::move(tried).error();
    one.attempts = static_cast<std::uint64_t>(find_attempts_.integer(0));
    one.started_unix_ms = find_attempts_.integer(2);
    if (find_attempts_.text(3) == "failed") {
      one.failure = fail(code_from(find_attempts_.text(4)), stage::none, std::string(find_attempts_.text(5)));
    }
    find_attempts_.reset();
    all.push_back(std::move(one));
  }
  return all;
}

result<std::vector<episode_record>> episode_store::all_of(const std::string& suite_hash) {
  std::vector<episode_record> all;
  list_episodes_.bind(suite_hash);
  for (;;) {
    auto row = list_episodes_.next();
    if (!row) return std::move(row).error();
    if (!*row) return all;
    all.push_back({std::string(list_episodes_.text(0)), suite_hash, std::string(list_episodes_.text(1)),
                   static_cast<std::uint32_t>(list_episodes_.integer(2))});
  }
}

result<void> episode_store::write_episode(const std::string& run_id, const episode_record& which,
                                          const std::optional<stored_end>& end) {
  const std::string why(end ? name(end->why) : "");
  const auto checksum = end_checksum(which.key, why, end ? end->outcome_json : "");
  put_episode_.bind(which.key)
      .bind(run_id)
      .bind(which.suite_hash)
      .bind(which.id)
      .bind(std::int64_t{which.epoch});
  if (end) {
    put_episode_.bind(why);
  } else {
    put_episode_.bind_null();
  }
  if (end && !end->outcome_json.empty()) {
    put_episode_.bind(end->outcome_json);
  } else {
    put_episode_.bind_null();
  }
  return put_episode_.bind(checksum).run();
}

result<void> episode_store::put_turn(const std::string& run_id, const episode_record& of,
                                     const turn_record& turn) {
  const auto checksum = turn_checksum(of.key, turn);
  return store_->commit([&]() -> result<void> {
    if (auto known = write_episode(run_id, of, std::nullopt); !known) return known;
    return put_turn_.bind(of.key)
        .bind(std::int64_t{turn.turn})
        .bind(turn.item.item_key)
        .bind(turn.item.cache_key)
        .bind(turn.added)
        .bind(checksum)
        .run();
  });
}

result<void> episode_store::drop_from(const episode_record& which, std::uint32_t turn) {
  return store_->commit([&]() -> result<void> {
    for (auto* drop : {&drop_replies_, &drop_turns_}) {
      if (auto done = drop->bind(which.key).bind(std::int64_t{turn}).run(); !done) return done;
    }
    return {};
  });
}

result<void> episode_store::put_end(const std::string& run_id, const episode_record& which,
                                    const stored_end& end) {
  return store_->commit([&] { return write_episode(run_id, which, end); });
}

}  // namespace evalcore::run
