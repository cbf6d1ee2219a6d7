#pragma once

#include <evalcore/run/run_files.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::cli {

/// The report for a person, on standard output. `written`: so were the files.
void print_report(const run::summary& of, const run::outputs& paths, bool written);

}  // namespace evalcore::cli
