#pragma once

#include <cstdint>
#include <optional>

namespace evalcore {

/// Bytes of memory that this process has had at most so far, files that it has mapped included. Absent where
/// the system does not tell, or no memory is left to read it.
[[nodiscard]] std::optional<std::uint64_t> peak_memory() noexcept;

}  // namespace evalcore
