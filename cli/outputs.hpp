#pragma once

#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::cli {

/// Where the files of a run go.
struct outputs {
  std::string folder;
  std::string store;
  std::string rows;
  std::string summary;

  /// `store`: empty: in the folder, too.
  static outputs in(const std::string& folder, const std::string& store = {});
};

/// Whether the folder is there or could be made, without making it: a backend that cannot start leaves
/// nothing behind, and an hour of loading does not end in a folder that cannot be written.
[[nodiscard]] result<void> check_folder(const outputs& paths);
[[nodiscard]] result<void> make_folder(const outputs& paths);

/// The report for a person, on standard output. `written`: so were the files.
void print_report(const run::summary& of, const outputs& paths, bool written);

/// The summary, and rows if the run is whole: rows have no place to say that items were not run.
[[nodiscard]] result<void> write_outputs(const run::summary& of, const run::row_labels& labels,
                                         const outputs& paths);

}  // namespace evalcore::cli
