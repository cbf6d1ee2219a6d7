#pragma once

#include <cstddef>
#include <cstdint>

namespace evalcore::cli {

/// Raises this process's bound on open files to what it may have, and says how many requests may then be in
/// flight at each endpoint: `wanted`, or fewer where each needs a socket that would not be had.
[[nodiscard]] std::uint32_t sockets_for(std::uint32_t wanted, std::size_t endpoints);

}  // namespace evalcore::cli
