#pragma once

#include <cstdint>
#include <string>

namespace evalcore::run {

/// A random (version 4) UUID in upper case.
[[nodiscard]] std::string new_run_id();
/// ISO-8601 in UTC, whole seconds, "Z".
[[nodiscard]] std::string timestamp(std::int64_t unix_ms);
[[nodiscard]] std::int64_t unix_ms_now();

}  // namespace evalcore::run
