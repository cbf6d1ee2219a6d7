#pragma once

#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/pool.hpp>

namespace evalcore::run {

/// `[{"after_s", "limit", "why"}]`, as it stands in summary.json.
[[nodiscard]] json::value limit_history(const std::vector<pool::limit_step>& changes);

/// `[{"address", "limit_history"}]`, an entry for each endpoint, for the store.
[[nodiscard]] std::string limits_json(const std::vector<pool::endpoint_figures>& of);

}  // namespace evalcore::run
