#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>

#include "run/merge_parts.hpp"

namespace evalcore::run {

/// The newest run of each of several stores, all on one suite and scored alike.
struct found_runs {
  std::vector<part> parts;
  suite what;
  std::size_t size = 0;  ///< Items of the suite that any of the runs was for.
};

/// Errors: as read_runs().
[[nodiscard]] result<found_runs> find_runs(const std::vector<std::string>& stores, const std::string& suite,
                                           const std::string& answers);

}  // namespace evalcore::run
