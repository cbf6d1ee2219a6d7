#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <evalcore/run/episode.hpp>

namespace evalcore::run {

/// Which episode's turn goes out next. An episode that has begun goes on before another begins: the backend
/// has its prefix in the cache, and it gives its place back sooner. At most so many are under way. Where the
/// cache is per slot, each of them has a slot of its own until it ends, so that nothing pushes its prefix
/// out. Pure: no clock, no I/O.
class episode_order {
 public:
  struct choice {
    episode_number episode = 0;
    std::optional<std::uint32_t> slot;
  };

  /// `bound`: episodes under way at most, at least 1; these are the slots where `slots` are used.
  episode_order(std::uint32_t bound, bool slots);

  /// A turn of this episode can go out; it has none that waits. `resumed`: it has not begun here but in an
  /// earlier process, and comes before those that never did.
  void ready(episode_number which, bool resumed);
  /// The turn that was ready is not to go out any more; false when it has gone.
  bool withdraw(episode_number which);
  /// The episode needs its place no longer. Its turn, if one was ready, is withdrawn.
  void end(episode_number which);

  /// The turn that goes out now; nothing when none can.
  [[nodiscard]] std::optional<choice> next();
  [[nodiscard]] std::size_t under_way() const noexcept { return places_.size(); }

 private:
  enum class rank : std::uint8_t { goes_on, resumed, fresh };
  using turn = std::pair<rank, std::uint64_t>;  ///< The second: order of arrival.

  bool slots_;
  std::uint64_t arrivals_ = 0;
  std::map<turn, episode_number> waiting_;
  std::map<episode_number, turn> turns_;            ///< Of those that wait.
  std::map<episode_number, std::uint32_t> places_;  ///< Of those under way.
  std::set<std::uint32_t> free_;
};

}  // namespace evalcore::run
