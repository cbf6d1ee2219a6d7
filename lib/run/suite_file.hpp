#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::run {

/// Where a line stands in its file, uncompressed.
struct extent {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t line = 0;  ///< 1-based.
};

/// A file of lines, plain or gzipped, open for as long as this lives; or such lines in memory.
class suite_file {
 public:
  suite_file() = default;
  ~suite_file();
  suite_file(suite_file&& other) noexcept;
  suite_file& operator=(suite_file&& other) noexcept;

  /// Errors: not_found, storage, bad_suite (not a regular file, damaged gzip data).
  [[nodiscard]] static result<suite_file> open(const std::string& path);

  /// Lines that are no file's; `name` stands for the path.
  [[nodiscard]] static suite_file in_memory(std::string name, std::string lines);

  using visitor = std::function<result<void>(std::string_view text, const extent& where)>;
  /// Calls `visit` for every line that is not blank, without its line end and without a byte order mark; its
  /// first error ends the walk. All bytes of the file go into `hash`.
  result<void> for_each_line(sha256& hash, const visitor& visit) const;

  /// Errors: storage, when the file was changed since open(). Any thread.
  [[nodiscard]] result<void> check_unchanged() const;
  /// The bytes of one line. Errors: storage, also when the file was changed since open(). Any thread.
  [[nodiscard]] result<std::string> read(const extent& where) const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// "path:line: ", in front of what is wrong with that line.
  [[nodiscard]] std::string at(const extent& where) const;

 private:
  std::string path_;
  std::string lines_;  ///< Without a descriptor.
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t modified_ns_ = 0;
};

}  // namespace evalcore::run
