#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace evalcore::engine {

/// What is known of memory when the number of rows is chosen. Bytes.
struct row_room {
  std::uint64_t a_row = 0;            ///< What each row sets aside.
  std::optional<std::uint64_t> free;  ///< Absent: unknown.
  std::uint64_t leave = 0;            ///< Of it, for others.
  std::uint32_t most = 1;             ///< Rows, at least 1.
};

/// Where the free memory is not known.
inline constexpr std::uint32_t usual_rows = 4;

/// As many rows as fit, at least one; 0: not even one does where nothing is left for others.
[[nodiscard]] constexpr std::uint32_t rows_that_fit(const row_room& of) noexcept {
  if (!of.free) return std::min(usual_rows, of.most);
  if (of.a_row > *of.free) return 0;
  const std::uint64_t room = *of.free - std::min(*of.free, of.leave);
  const std::uint64_t rows = of.a_row == 0 ? of.most : room / of.a_row;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, 1, of.most));
}

}  // namespace evalcore::engine
