#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/run/gate.hpp>
#include <evalcore/run/power_plan.hpp>

namespace evalcore::cli {

struct compare_arguments {
  std::vector<std::string> runs;  ///< Stores, or folders with one; two at least.
  std::string suite;              ///< Empty: where the first run found it.
  std::string answers;
  bool json = false;
};

struct report_arguments {
  std::vector<std::string> runs;  ///< Stores, or folders with one.
  std::string suite;              ///< Empty: where the first run found it.
  std::string answers;
  std::string out;  ///< Empty: report.html beside the first store.
};

/// What only `gate --compat` takes.
struct compat_arguments {
  bool wanted = false;
  std::string spec;
  std::string candidate;
  std::string baseline;
  std::string budget;
  std::optional<double> threshold;
  std::uint64_t passes = 1;
  bool update_baseline = false;
};

struct gate_arguments {
  std::vector<std::string> runs;  ///< Candidate and baseline, in turn.
  std::string suite;
  std::string answers;
  run::gate_options test;
  std::string out = "gate-result.json";
  bool json = false;
  compat_arguments compat;
};

struct power_arguments {
  run::power_question asked;
  bool json = false;
};

}  // namespace evalcore::cli
