#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/scheduler_rig.hpp"

namespace evalcore::test {

constexpr std::uint64_t token_bytes = 1024;  // Of a snapshot, as the simulated engine counts by default.

inline engine::prefix_cache_options roomy() {
  return {.max_bytes = std::uint64_t{64} << 20U, .reserve_bytes = 0};
}

inline engine::simulated_options on_grid(std::uint32_t grid) {
  engine::simulated_options how;
  how.about.prefix_grid = grid;
  how.prefill_chunk = 50;
  return how;
}

inline engine::request sharing(std::string prompt, std::optional<std::vector<std::uint32_t>> cuts,
                               std::uint32_t max_tokens = 4) {
  auto made = asking(std::move(prompt), max_tokens);
  made.share = engine::prefix_sharing{.key = "suite", .cuts = std::move(cuts)};
  return made;
}

inline std::string item(int number) { return " item " + std::to_string(number) + "?"; }

/// Texts after one system turn of `shared` bytes.
inline std::vector<std::string> items(std::size_t shared, int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back(std::string(shared, 's') + item(i));
  return made;
}

}  // namespace evalcore::test
