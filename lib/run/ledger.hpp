#pragma once

#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::run {

/// Adds up what a run costs; does nothing for a run without prices (summary::cost).
class ledger {
 public:
  explicit ledger(summary& into) : into_(into) {}

  /// Errors: invalid_argument when the run must not exceed a cost and this request has no bound.
  [[nodiscard]] result<void> payable(const std::string& item_id, const chat::request& request) const;
  /// A reply of an earlier run that was made without prices.
  void reused(const chat::request& request, const chat::reply& reply);
  /// What an attempt that goes out may cost.
  [[nodiscard]] std::optional<cost> sent(std::optional<pico_usd> bound) const;
  /// What an attempt cost; counted.
  std::optional<cost> ended(const result<chat::reply>& outcome, std::optional<pico_usd> bound);
  /// The run is over.
  void close();

  /// Why nothing more was sent.
  [[nodiscard]] std::string over_budget() const;

 private:
  summary& into_;
};

}  // namespace evalcore::run
