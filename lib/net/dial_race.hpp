#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <evalcore/base/clock.hpp>

namespace evalcore::net {

/// How long an address has to answer before the next is tried beside it (RFC 8305, section 5).
inline constexpr duration dial_head_start = std::chrono::milliseconds(250);

/// Decides when which of a host's addresses is tried, so that a dead one costs a quarter of a second and
/// not the connect deadline. No socket or clock inside.
class dial_race {
 public:
  enum class action : std::uint8_t {
    wait,  ///< For an attempt under way, or the deadline.
    dial,  ///< Try address `index` beside those under way.
    lost,  ///< Every address has failed.
  };
  struct step {
    action what = action::wait;
    std::size_t index = 0;
  };

  explicit dial_race(std::size_t addresses) : addresses_(addresses) {}

  step begin(instant now) { return next(now); }
  /// An attempt failed.
  step failed(instant now);
  step expired(instant now);

  /// When to call expired(); empty when there is nothing left to try.
  [[nodiscard]] std::optional<instant> deadline() const;

 private:
  step next(instant now);

  std::size_t addresses_;
  std::size_t begun_ = 0;
  std::size_t failed_ = 0;
  instant last_begun_;
};

/// The order in which to try addresses: that of the resolver, but the two families take turns, as where
/// one is broken the whole of it is (RFC 8305, section 4). Takes what is of the sixth version, gives
/// indices.
[[nodiscard]] std::vector<std::size_t> dial_order(const std::vector<bool>& version_six);

}  // namespace evalcore::net
