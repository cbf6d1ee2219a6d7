#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

namespace evalcore {

/// All bytes of a file. `what` is how a message names it: "cannot read the spec gate.json: No such file or
/// directory". Errors, at `at`: not_found; storage, also where the file cannot be read to its end.
[[nodiscard]] result<std::string> read_file(const std::string& path, std::string_view what, stage at);

/// Writes through a temporary name beside the file and a rename, flushed to the disk, so that a reader never
/// sees half a file. Any thread or process may write the same path: the last to end stands. Errors, at
/// stage::store: storage, and then the old file still stands.
[[nodiscard]] result<void> write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace evalcore
