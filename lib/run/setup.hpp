#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::run {

/// How a run was set up, as the store keeps it: enough to ask the same again, and to report on it.
struct run_setup {
  request_options request;  ///< With the tools mode decided.
  std::string task;
  std::uint64_t items = 0;  ///< Of the suite or its limit; a shard's are among them.
  std::string shard;        ///< "1/4"; empty: the whole suite.
  std::string order;
  std::string tools;
  std::uint32_t concurrency = 0;
  bool adaptive = false;
  row_labels labels;
  std::optional<std::uint64_t> noise_floor;  ///< Items that are asked twice.
  std::optional<run::price> price;
  std::string host_scorer;        ///< The name of the host's; empty: each item has its own.
  std::string scorer_named = {};  ///< In the place of the items' own; empty: those.
};

[[nodiscard]] std::string to_json(const run_setup& of);
/// Errors: bad_reply for what to_json() did not write, such as "{}" of a run that was made before there were
/// setups.
[[nodiscard]] result<run_setup> setup_from(std::string_view text);

/// What two runs must have in common to be parts of one, by name.
[[nodiscard]] json::object common_of(const run_setup& of);

}  // namespace evalcore::run
