#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/chat/reply.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// Counts items, answers and tokens into a summary as they come.
class tally {
 public:
  explicit tally(summary& into) : into_(into) {}

  void item(const run::item& one, const score::scorer& scorer);
  void answer(const chat::reply& reply);
  void verdict(const std::string& category, const score::scorer& scorer, const score::verdict& what);
  /// False when the reply's counts cannot be, and were left out.
  bool tokens(const chat::reply& reply, const std::optional<std::uint64_t>& predicted_cached);

 private:
  metric_summary& metric_for(const std::string& category, std::string_view name);

  summary& into_;
  double ttft_total_ = 0;
  std::uint64_t ttft_count_ = 0;
};

}  // namespace evalcore::run
