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
  /// The same in base64, as a Content-Security-Policy names a script.
  [[nodiscard]] std::string base64();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Bytes in base64 (RFC 4648), padded, in one line.
[[nodiscard]] std::string to_base64(std::string_view bytes);

/// The hash of a file's bytes, as `sha256sum` prints it. Errors: not_found, storage.
[[nodiscard]] result<std::string> sha256_of_file(const std::string& path);

}  // namespace evalcore
