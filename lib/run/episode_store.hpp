#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/run/episode.hpp>
#include <evalcore/run/store.hpp>

#include "run/store_sql.hpp"

namespace evalcore::run {

/// One episode's keys.
struct episode_record {
  std::string key;  ///< SHA-256 of all below, and of who answers.
  std::string suite_hash;
  std::string id;
  std::uint32_t epoch = 0;
};

struct turn_record {
  std::uint32_t turn = 0;  ///< From 1.
  item_record item;        ///< Under which its attempts and its reply are kept.
  std::string added;       ///< See added_to().
};

struct stored_end {
  episode_end why = episode_end::done;
  std::string outcome_json;  ///< Empty: the host gave none.
};

/// A turn as the trace needs it.
struct traced_turn {
  turn_record record;
  std::optional<chat::reply> reply;  ///< Absent: there is none, or not yet.
  std::uint64_t attempts = 0;
  std::int64_t started_unix_ms = 0;  ///< Of the last attempt.
  std::optional<error> failure;      ///< Of the last attempt, where that failed: code and message.
};

/// The episodes of a store, which must outlive it. What the store says of errors and threads holds here.
class episode_store {
 public:
  [[nodiscard]] static result<episode_store> open(store& of);

  /// How the episode ended, if it did.
  [[nodiscard]] result<std::optional<stored_end>> end_of(const episode_record& which);
  /// Its turns from the first on; `record.item.item_id` and `epoch` are the episode's.
  [[nodiscard]] result<std::vector<turn_record>> turns_of(const episode_record& which);
  [[nodiscard]] result<std::vector<traced_turn>> trace_of(const episode_record& which);
  /// All episodes of a suite, by id and epoch.
  [[nodiscard]] result<std::vector<episode_record>> all_of(const std::string& suite_hash);

  /// A turn goes out: it takes the place of one with the same number, and the episode has not ended.
  result<void> put_turn(const std::string& run_id, const episode_record& of, const turn_record& turn);
  /// Forgets the turns from this one on, and their replies.
  result<void> drop_from(const episode_record& which, std::uint32_t turn);
  result<void> put_end(const std::string& run_id, const episode_record& which, const stored_end& end);

 private:
  explicit episode_store(store& of) : store_(&of) {}
  [[nodiscard]] error damaged(const episode_record& which, const std::string& what) const;
  result<void> write_episode(const std::string& run_id, const episode_record& which,
                             const std::optional<stored_end>& end);

  store* store_;
  statement put_episode_;
  statement find_episode_;
  statement list_episodes_;
  statement put_turn_;
  statement find_turns_;
  statement find_attempts_;
  statement drop_replies_;
  statement drop_turns_;
};

}  // namespace evalcore::run
