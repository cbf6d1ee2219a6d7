#pragma once

#include <cstdint>
#include <optional>

#include <evalcore/base/clock.hpp>

namespace evalcore::pool {

/// One answered attempt, as a sample of what the server does.
struct goodput_sample {
  double tokens = 0;                  ///< Completion tokens, or 1 for an answer where they are not known.
  double life = 0;                    ///< Seconds from sending to the end.
  double load = 0;                    ///< Integral of the number in flight over that time, in seconds.
  std::optional<double> first_token;  ///< Seconds from sending to the first token.
};

/// Goodput over the attempts that ended. With n in flight, an attempt that lived s seconds and brought t
/// tokens stands for a goodput of n * t / s (Little's law). Summed above and below the line, the lengths of
/// the answers cancel out, so that a few dozen ends tell what a count of tokens by the clock tells after
/// hundreds.
class goodput_window {
 public:
  void add(const goodput_sample& one);
  /// Makes what was added so far count for less: by `factor`, from 0 to 1.
  void fade(double factor);
  void add(const goodput_window& other);

  [[nodiscard]] double ends() const noexcept { return ends_; }
  /// Tokens a second of one request. The figures are 0 while nothing was added.
  [[nodiscard]] double speed() const noexcept;
  [[nodiscard]] double in_flight() const noexcept;  ///< Mean.
  [[nodiscard]] double goodput() const noexcept { return speed() * in_flight(); }
  [[nodiscard]] std::optional<double> first_token() const noexcept;  ///< Mean, in seconds.

 private:
  double ends_ = 0;
  double tokens_ = 0;
  double life_ = 0;
  double load_ = 0;
  double first_tokens_ = 0;
  double first_token_sum_ = 0;
};

}  // namespace evalcore::pool
