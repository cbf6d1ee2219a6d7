#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <evalcore/run/merge.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "outputs.hpp"
#include "printable.hpp"
#include "run_store.hpp"

namespace evalcore::cli {
namespace {

/// Items beyond this many are counted, not listed.
constexpr std::size_t missing_shown = 100;

void list_missing(const run::merged_run& of, const std::string& store) {
  const auto shown = std::min(of.missing.size(), missing_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    std::fprintf(stderr, "evalcore: missing: %s\n", printable(of.missing[i]).c_str());
  }
  if (shown < of.missing.size())
    std::fprintf(stderr, "evalcore: … and %zu more\n", of.missing.size() - shown);
  std::fprintf(
      stderr,
      "evalcore: %zu of %llu items are missing; run the suite with --store %s to answer them, or merge "
      "again with the file that has them\n",
      of.missing.size(), static_cast<unsigned long long>(of.what.items), store.c_str());
}

}  // namespace

result<int> merge_command(const merge_arguments& arguments) {
  const auto paths = run::outputs::in(arguments.out);
  run::merge_options how;
  for (const auto& file : arguments.files) how.parts.push_back(store_in(file));
  how.into = paths.store;
  how.suite = arguments.suite;
  how.answers = arguments.answers;
  how.options_json = arguments.as_given;
  if (auto made = make_folder(paths); !made) return std::move(made).error();
  const auto merged = run::merge(how);
  if (!merged) return merged.error();
  if (auto written = write_outputs(merged->what, merged->labels, paths); !written)
    return std::move(written).error();
  if (arguments.json) {
    std::fputs(run::to_json(merged->what).c_str(), stdout);
  } else {
    print_report(merged->what, paths, true);
  }
  if (!merged->missing.empty()) list_missing(*merged, paths.store);
  return merged->missing.empty() && merged->what.errors == 0 ? exit_status::done : exit_status::items_errored;
}

}  // namespace evalcore::cli
