#pragma once

#include <cstdint>
#include <string>

#include <evalcore/base/result.hpp>

namespace evalcore::run {

/// True when the file behind `descriptor` starts as gzip data does.
[[nodiscard]] bool is_gzip(int descriptor);

/// Inflates all of `descriptor` (one gzip member or several) into a temporary file without a name, and gives
/// its descriptor, which the caller closes. Errors: bad_suite (damaged, cut off, or more than `bound` bytes
/// inside), storage (no room for the temporary file). `path` is for the message.
[[nodiscard]] result<int> inflate_to_temporary(int descriptor, const std::string& path, std::uint64_t bound);

}  // namespace evalcore::run
