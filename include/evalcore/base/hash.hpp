#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

namespace evalcore {

/// SHA-256 over several pieces, in lower-case hexadecimal. Each piece is preceded by its length, so that
/// ("ab", "c") and ("a", "bc") differ.
class sha256 {
 public:
  sha256();
  ~sha256();
  sha256(sha256&&) noexcept;
  sha256& operator=(sha256&&) noexcept;

  sha256& piece(std::string_view bytes);
  /// Bytes without a length in front, for the hash of a file.
  sha256& raw(std::string_view bytes);
  [[nodiscard]] std::string hex();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The hash of a file's bytes, as `sha256sum` prints it. Errors: not_found, storage.
[[nodiscard]] result<std::string> sha256_of_file(const std::string& path);

}  // namespace evalcore
