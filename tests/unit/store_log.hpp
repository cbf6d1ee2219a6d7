#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

namespace evalcore::test {

/// Transactions in the log of an open store that was not synced yet: frames that end one, by the file format
/// of SQLite's write-ahead log.
inline std::size_t commits_in_log(const std::string& store) {
  std::ifstream file(store + "-wal", std::ios::binary);
  const std::string log((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto number_at = [&log](std::size_t offset) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
      number = number << 8U | static_cast<unsigned char>(log.at(offset + i));
    return number;
  };
  constexpr std::size_t header = 32;
  constexpr std::size_t frame_header = 24;
  const std::size_t frame = frame_header + number_at(8);
  std::size_t commits = 0;
  for (std::size_t at = header; at + frame <= log.size(); at += frame) {
    const bool of_this_log = number_at(at + 8) == number_at(16) && number_at(at + 12) == number_at(20);
    if (of_this_log && number_at(at + 4) != 0) ++commits;
  }
  return commits;
}

}  // namespace evalcore::test
