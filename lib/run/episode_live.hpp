#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/pool/source.hpp>
#include <evalcore/run/episode.hpp>
#include <evalcore/run/store.hpp>

#include "run/episode_budget.hpp"
#include "run/episode_store.hpp"

namespace evalcore::run {

/// An episode that has begun and that the host has not let go of, or whose request is still out.
struct episode_live {
  enum class state : std::uint8_t {
    waits,  ///< For the host.
    out,    ///< A request is with the source or the pool.
    over,   ///< It was stopped.
  };

  episode_record record;
  episode_budget budget;
  std::vector<turn_record> stored;  ///< Of an earlier process, from the first turn, as far as they hold.

  state now = state::waits;
  turn_record turn;       ///< The present one.
  chat::request request;  ///< Its request,
  chat::reply reply;      ///< and its reply, once there is one.

  pool::item_id item = 0;
  attempt_record attempt;
  bool failed = false;                   ///< The attempt, and the next one has not begun.
  std::optional<episode_end> cancelled;  ///< The pool was told to end the request, for this reason.
  episode_end why = episode_end::done;   ///< Of one that is over.

  /// The host has given it up; it is only here for the request that is out.
  [[nodiscard]] bool given_up() const { return cancelled == episode_end::cancelled; }
};

/// How a turn is answered.
enum class turn_answer : std::uint8_t {
  stored,    ///< By the store.
  send,      ///< By the backend.
  diverged,  ///< By the backend, and the stored turns from this one on are of another conversation.
};

/// What the turns of an earlier process say to a turn with this key. A stored one without a reply was out
/// when that process ended.
inline turn_answer answer_of(const std::vector<turn_record>& stored, const turn_record& turn, bool replied) {
  if (turn.turn > stored.size()) return turn_answer::send;
  if (stored[turn.turn - 1].item.cache_key != turn.item.cache_key) return turn_answer::diverged;
  return replied ? turn_answer::stored : turn_answer::send;
}

}  // namespace evalcore::run
