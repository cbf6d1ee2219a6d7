#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

namespace evalcore {

/// All bytes of a file. `what` is how a message names it: "cannot read the spec gate.json: No such file or
/// directory". Errors, at `at`: not_found; storage, also where the file cannot be read to its end.
[[nodiscard]] result<std::string> read_file(const std::string& path, std::string_view what, stage at);

/// A file that is written through a temporary name beside it, so that a reader never sees half of it: it
/// takes its own name in keep(), flushed to the disk, and left before that it is removed. Any thread or
/// process may write the same path: the last to end stands. Errors of all calls, at stage::store: storage,
/// and then what had the name before still stands.
class atomic_file {
 public:
  [[nodiscard]] static result<atomic_file> create(const std::string& path);
  ~atomic_file();
  atomic_file(atomic_file&& other) noexcept;
  atomic_file& operator=(atomic_file&&) = delete;

  [[nodiscard]] result<void> append(std::string_view bytes);
  /// Once, at the end.
  [[nodiscard]] result<void> keep();

 private:
  atomic_file(std::string path, std::string temporary, int descriptor);
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// All of a file at once, as atomic_file writes it.
[[nodiscard]] result<void> write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace evalcore
