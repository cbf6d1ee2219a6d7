#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace evalcore::limits {

/// Bounds on what evalcore reads from the outside, in one place. Each is a default; the option named in
/// `table` changes it where one exists.
inline constexpr std::uint64_t header_bytes = 256 * 1024;
inline constexpr std::uint64_t header_count = 2'000;
inline constexpr std::uint64_t body_bytes = 64ULL * 1024 * 1024;
inline constexpr std::uint64_t sse_line_bytes = 8ULL * 1024 * 1024;
inline constexpr std::uint64_t json_depth = 128;
inline constexpr std::uint64_t suite_line_bytes = 64ULL * 1024 * 1024;
inline constexpr std::uint64_t inflated_suite_bytes = 16ULL * 1024 * 1024 * 1024;
inline constexpr std::uint64_t backend_words_bytes = 1024;
inline constexpr std::uint64_t process_log_bytes = 64 * 1024;

struct limit {
  std::string_view name;
  std::uint64_t value;
  std::string_view unit;
  std::string_view option;  ///< Empty: fixed.
};

inline constexpr std::array table{
    limit{"header_bytes", header_bytes, "bytes", ""},
    limit{"header_count", header_count, "headers", ""},
    limit{"body_bytes", body_bytes, "bytes", ""},
    limit{"sse_line_bytes", sse_line_bytes, "bytes", ""},
    limit{"json_depth", json_depth, "levels", ""},
    limit{"suite_line_bytes", suite_line_bytes, "bytes", ""},
    limit{"inflated_suite_bytes", inflated_suite_bytes, "bytes", ""},
    limit{"backend_words_bytes", backend_words_bytes, "bytes", ""},
    limit{"process_log_bytes", process_log_bytes, "bytes", ""},
};

}  // namespace evalcore::limits
