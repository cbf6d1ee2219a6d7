#pragma once

#include <CLI/CLI.hpp>

#include "comparison_arguments.hpp"

namespace evalcore::cli {

CLI::App* add_compare_command(CLI::App& app, compare_arguments& into);
CLI::App* add_report_command(CLI::App& app, report_arguments& into);
CLI::App* add_gate_command(CLI::App& app, gate_arguments& into);
CLI::App* add_power_command(CLI::App& app, power_arguments& into);

}  // namespace evalcore::cli
