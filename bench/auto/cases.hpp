#pragma once

#include <string>
#include <vector>

#include "client.hpp"

namespace evalcore::bench {

struct limit_case {
  std::string name;
  server_facts facts;
  bool unseen = false;  ///< Of the check: no number was chosen with it in view.

  [[nodiscard]] bool steps() const { return facts.slots != facts.slots_after_step; }
};

/// Every overload with every hidden limit, and a step from 64 to 16.
[[nodiscard]] std::vector<limit_case> limit_cases();

struct share {
  double mean = 0;   ///< Over the seeds.
  double worst = 0;  ///< Of one seed.
};

/// `auto` beside the best of the fixed limits, over the same requests.
struct limit_result {
  std::uint32_t best_fixed = 0;  ///< By throughput.
  share of_best;                 ///< Throughput after the warm-up.
  share of_makespan;             ///< Makespan of the best, divided by that of auto. 0 for a step.
  share rejected;                ///< Of the attempts sent.
  share lost;                    ///< Of the attempts sent.
  double back_s = 0;             ///< Seconds after the step until throughput is back, for all seeds together.
};
[[nodiscard]] limit_result measure_limit(const limit_case& one, std::uint64_t seeds);

}  // namespace evalcore::bench
