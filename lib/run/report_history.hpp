#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>

#include "run/merge_parts.hpp"

namespace evalcore::run {

/// What went before in a store, on one suite with one backend.
struct report_history {
  struct run {
    std::int64_t started_unix_ms = 0;
    std::string limits;  ///< JSON of run::limits_json().
  };
  /// Attempts that failed in one way.
  struct failure {
    std::string code;
    std::uint64_t attempts = 0;
    std::string example;  ///< What the last of them said.
  };
  std::vector<run> runs;  ///< In the order in which they began.
  std::vector<failure> failures;
};

/// Errors: as store::open_to_read().
[[nodiscard]] result<report_history> history_of(const part& one);

}  // namespace evalcore::run
