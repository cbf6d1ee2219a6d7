#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

/// What retries may cost. Each first attempt deposits a part of a retry, each second a trickle; what is not
/// used within ten seconds is gone (as in Finagle's RetryBudget). A retry costs 1 when it is sent and gives
/// it back when it is answered (as in botocore's retry quota), so that only retries that fail again use the
/// budget up.
class retry_budget {
 public:
  retry_budget(const retry_options& how, instant start);

  void sent_first(instant now);
  /// Whether a retry may go out now.
  [[nodiscard]] bool affords(instant now);
  /// The earliest time at which it will, by the trickle alone.
  [[nodiscard]] instant affords_at(instant now);
  void sent_retry(instant now);
  void retry_answered(instant now);

 private:
  static constexpr std::size_t window_s = 10;

  void advance(instant now);
  void deposit(double amount);
  [[nodiscard]] double balance() const;

  double share_;
  double per_s_;
  instant second_;  ///< Begin of the newest second.
  std::array<double, window_s> deposits_{};
  std::size_t newest_ = 0;
};

}  // namespace evalcore::pool
