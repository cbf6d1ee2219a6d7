#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/run/episode.hpp>

namespace evalcore::run {

/// How many episodes are under way, and what their backend's cache is like.
struct episode_places {
  std::uint32_t bound = 1;  ///< At most, at least 1; these are the slots where `slots` are used.
  bool slots = false;       ///< The cache is per slot, and requests can be pinned.
  bool can_share = false;   ///< A slot's cache can be copied into others.
};

/// Which episode's turn goes out next. An episode that has begun goes on before another begins: the backend
/// has its prefix in the cache, and it gives its place back sooner. Where the cache is per slot, each has a
/// slot of its own until it ends, so that nothing pushes its prefix out.
///
/// Episodes of one family begin alike (tools and system turns). The first of a family leads: the others begin
/// when its first token has come, or where slots can be copied, when its first turn has ended and its slot
/// was copied into those that wait for it. So what they share is computed once. Who comes later has a copy of
/// a slot that is at rest, if there is one. Pure: no clock, no I/O.
class episode_order {
 public:
  /// Send this episode's turn.
  struct turn {
    episode_number episode = 0;
    std::optional<std::uint32_t> slot;
  };
  /// Copy one slot into others, which nothing else is sent to meanwhile; answer with shared().
  struct copy {
    std::uint32_t from = 0;
    std::vector<std::uint32_t> to;
  };
  struct nothing {};
  using choice = std::variant<nothing, turn, copy>;

  explicit episode_order(episode_places places);

  /// A turn of this episode can go out; it has none that waits. `resumed`: it has not begun here but in an
  /// earlier process, and comes before those that never did. `family`: 0: shares nothing worth waiting for.
  void ready(episode_number which, bool resumed, std::uint64_t family = 0);
  /// The turn that was ready is not to go out any more; false when it has gone.
  bool withdraw(episode_number which);
  /// The episode needs its place no longer. Its turn, if one was ready, is withdrawn.
  void end(episode_number which);

  void first_token(episode_number which);
  /// Its turn ended, well or not.
  void turn_ended(episode_number which, bool ok);
  /// After a copy that failed there is no further one.
  void shared(bool ok);

  [[nodiscard]] choice next();
  /// Of an episode under way, where slots are used.
  [[nodiscard]] std::optional<std::uint32_t> slot_of(episode_number which) const;
  [[nodiscard]] std::size_t under_way() const noexcept { return begun_.size(); }

 private:
  enum class rank : std::uint8_t { goes_on, resumed, fresh };
  using position = std::pair<rank, std::uint64_t>;  ///< The second: order of arrival.
  struct waiting {
    episode_number episode = 0;
    std::uint64_t family = 0;
  };
  struct begun {
    std::uint32_t place = 0;
    std::uint64_t family = 0;
    bool out = false;  ///< Its turn is.
  };

  [[nodiscard]] bool holds(std::uint32_t place, std::uint64_t family) const;
  /// A copy for those of the family that wait to begin.
  [[nodiscard]] std::optional<copy> copy_from(std::uint32_t place, std::uint64_t family) const;
  [[nodiscard]] std::optional<copy> copy_for(std::uint64_t family) const;
  [[nodiscard]] choice start_copy(copy what, std::uint64_t family);
  [[nodiscard]] std::uint32_t take_place(std::uint64_t family);

  episode_places how_;
  std::uint64_t arrivals_ = 0;
  std::map<position, waiting> waiting_;
  std::map<episode_number, position> positions_;  ///< Of those that wait.
  std::map<episode_number, begun> begun_;
  std::set<std::uint32_t> free_;
  std::map<std::uint32_t, std::uint64_t> held_;      ///< By place, the family of who was there last.
  std::map<std::uint64_t, episode_number> leaders_;  ///< By family, as long as they lead.
  std::set<std::uint64_t> warm_;                     ///< Families that need no leader any more.
  std::set<std::uint64_t> to_copy_;  ///< Of these, those whose leader has just ended its turn.
  bool copying_ = false;
};

}  // namespace evalcore::run
