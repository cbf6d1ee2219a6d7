#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::run {

/// What a run's store can be turned into; docs/outputs.md has the members of each.
enum class export_format : std::uint8_t {
  rows,      ///< As `evalcore run` writes rows.jsonl.
  lm_eval,   ///< As lm-eval writes with --log_samples: a folder.
  bfcl,      ///< Result files as `bfcl generate` writes them: a folder.
  junit,     ///< JUnit's XML.
  markdown,  ///< A summary for people.
  csv,       ///< A line for each item (RFC 4180).
};

struct export_options {
  std::vector<std::string> stores;  ///< The newest run of each.
  std::string suite;                ///< Empty: where the runs found it; else all of them are of this one.
  std::string answers;              ///< As for suite::open().
  std::string model_name;           ///< In the place of the runs' own; empty: that.
  /// Prompts, replies, targets and tools become `redacted_text`; ids, scores, usage and timing stay.
  bool redact = false;
};

/// In the place of what is left out. It tells nothing, not even what is the same: short answers could be
/// guessed from a hash.
inline constexpr std::string_view redacted_text = "[redacted]";

/// Gets the pieces of a file one after the other. `file`: relative, '/' between folders; empty where the
/// format is one file.
using export_sink = std::function<result<void>(const std::string& file, std::string_view text)>;

/// What was written.
struct export_counts {
  std::uint64_t items = 0;
  std::uint64_t missing = 0;  ///< Of these, without a reply: errored or not run.
};

/// Writes runs in another format. Runs are read as by read_runs(), but may be of several suites; what is
/// compared (markdown) are those of one. Memory: for `junit` and `markdown` what is written, else an item.
///
/// Errors: those of read_runs() and of the sink; invalid_argument for items that have no place in the format
/// (bfcl), for runs that would be one file there, and for a model's name that cannot be a file's.
[[nodiscard]] result<export_counts> export_runs(export_format format, const export_options& how,
                                                const export_sink& into);

}  // namespace evalcore::run
