#pragma once

#include <evalcore/run/run_files.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::cli {

/// What came of the answers, on standard output: a line for each metric, and what ails them.
void print_scores(const run::summary& of);

/// The report for a person, on standard output. `written`: so were the files.
void print_report(const run::summary& of, const run::outputs& paths, bool written);

}  // namespace evalcore::cli
