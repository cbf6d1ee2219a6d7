#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::run {

struct report_options {
  std::vector<std::string> stores;  ///< One, or several of one suite; the others are compared with the first.
  std::string suite;                ///< Empty: where the first run found it.
  std::string answers;              ///< As for suite::open().
  std::string path;                 ///< Of the page.
};

struct report_written {
  std::uint64_t items = 0;
  std::uint64_t without_text =
      0;  ///< Of these, without prompt and replies, since the page would be too long.
  std::uint64_t bytes = 0;
};

/// Writes what came of runs as one page of HTML that needs nothing else: docs/report.md says what it shows.
/// The newest run of each store counts. The same stores and suite give the same bytes. Memory: some 400 bytes
/// an item and run, and what a few items have to say; the page grows with them, up to some 50 MB for 100,000.
///
/// Errors: as read_runs(); invalid_argument for a store that is named twice; storage for a page that cannot
/// be written, and then what had its name before still stands.
[[nodiscard]] result<report_written> write_report(const report_options& how);

}  // namespace evalcore::run
