#pragma once

namespace evalcore {

/// Seconds of processor time that this process has used, user and system.
[[nodiscard]] double processor_seconds() noexcept;

}  // namespace evalcore
