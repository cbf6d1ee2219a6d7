#pragma once

#include <stop_token>

#include <evalcore/base/result.hpp>

#include "arguments.hpp"

namespace evalcore::cli {

/// Each returns the exit status; an error means that the command could not do its work.
[[nodiscard]] result<int> run_command(const run_arguments& arguments, const std::stop_token& stop);
[[nodiscard]] result<int> plan_command(const plan_arguments& arguments, const std::stop_token& stop);
[[nodiscard]] result<int> score_command(const score_arguments& arguments);
[[nodiscard]] result<int> merge_command(const merge_arguments& arguments);
[[nodiscard]] result<int> compare_command(const compare_arguments& arguments);
[[nodiscard]] result<int> report_command(const report_arguments& arguments);
[[nodiscard]] result<int> gate_command(const gate_arguments& arguments, const std::stop_token& stop);
[[nodiscard]] result<int> export_command(const export_arguments& arguments);
[[nodiscard]] result<int> show_command(const show_arguments& arguments, const std::stop_token& stop);
[[nodiscard]] result<int> power_command(const power_arguments& arguments);
[[nodiscard]] result<int> probe_command(const probe_arguments& arguments, const std::stop_token& stop);
[[nodiscard]] result<int> backends_command(const backends_arguments& arguments);

}  // namespace evalcore::cli
