#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace evalcore::prefix {

/// A set of numbers below a bound: a bit for each, and above 64 of them a bit that says whether there is one.
class number_set {
 public:
  explicit number_set(std::size_t bound) {
    do {
      bound = (bound + 63) / 64;
      levels_.emplace_back(bound, 0);
    } while (bound > 1);
  }

  void insert(std::uint32_t number) {
    for (auto& level : levels_) {
      level[number / 64] |= bit(number);
      number /= 64;
    }
  }
  void erase(std::uint32_t number) {
    for (auto& level : levels_) {
      level[number / 64] &= ~bit(number);
      if (level[number / 64] != 0) return;
      number /= 64;
    }
  }
  [[nodiscard]] bool has(std::uint32_t number) const { return (levels_[0][number / 64] & bit(number)) != 0; }
  /// The least that is not below `from`.
  [[nodiscard]] std::optional<std::uint32_t> at_or_after(std::uint32_t from) const {
    for (std::size_t up = 0; up < levels_.size(); ++up) {
      if (from / 64 >= levels_[up].size()) return std::nullopt;
      const auto found = levels_[up][from / 64] & (~std::uint64_t{0} << (from % 64));
      if (found != 0) return least_below(up, first_of(from, found));
      from = from / 64 + 1;
    }
    return std::nullopt;
  }
  /// The greatest below `bound`.
  [[nodiscard]] std::optional<std::uint32_t> before(std::uint32_t bound) const {
    for (std::size_t up = 0; up < levels_.size() && bound > 0; ++up) {
      const auto last = bound - 1;
      const auto found = levels_[up][last / 64] & (~std::uint64_t{0} >> (63 - last % 64));
      if (found != 0) return greatest_below(up, last_of(last, found));
      bound = last / 64;
    }
    return std::nullopt;
  }

 private:
  static std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << (number % 64); }
  static std::uint32_t first_of(std::uint32_t near, std::uint64_t word) {
    return near / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
  }
  static std::uint32_t last_of(std::uint32_t near, std::uint64_t word) {
    return near / 64 * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(word));
  }
  [[nodiscard]] std::uint32_t least_below(std::size_t up, std::uint32_t at) const {
    while (up-- > 0) at = first_of(at * 64, levels_[up][at]);
    return at;
  }
  [[nodiscard]] std::uint32_t greatest_below(std::size_t up, std::uint32_t at) const {
    while (up-- > 0) at = last_of(at * 64, levels_[up][at]);
    return at;
  }

  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace evalcore::prefix
