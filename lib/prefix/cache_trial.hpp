#pragma once

#include <cstdint>

namespace evalcore::prefix {

/// Whether a cache gives anything of what it is taken to hold: the first answers that could tell say so. In
/// tokens.
class cache_trial {
 public:
  static constexpr std::uint32_t answers = 16;
  static constexpr std::uint64_t telling = 64;  ///< A shorter prefix that is not found says nothing.

  void answered(std::uint64_t predicted, std::uint64_t found) {
    if (predicted < telling || seen_ == answers) return;
    ++seen_;
    predicted_ += predicted;
    found_ += found;
  }
  /// It gave less than a tenth.
  [[nodiscard]] bool failed() const noexcept { return seen_ == answers && found_ < predicted_ / 10; }

 private:
  std::uint32_t seen_ = 0;
  std::uint64_t predicted_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace evalcore::prefix
