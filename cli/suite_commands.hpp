#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::cli {

struct command_rows {
  std::string rows;  ///< What the commands appended to their file.
  int status = 0;    ///< Of the command that failed, after which no more ran; 127: it could not be started.
};

/// Where what the commands print goes.
enum class command_output {
  as_ours,   ///< To the standard streams of this process.
  to_stderr  ///< All of it to standard error, since standard output is for this process alone.
};

/// Runs each command `passes` times, one after the other. Each appends rows to the file that TINYGPT_EVAL_OUT
/// names in its environment, and $TINYGPT_EVAL_OUT and
/// ${TINYGPT_EVAL_OUT} in its arguments; TINYGPT_EVAL_PASSES is the number of passes, TINYGPT_EVAL_BUDGET the
/// budget's file, if there is one. Errors: storage; cancelled, when `stop` was requested: the command is
/// asked to end then.
[[nodiscard]] result<command_rows> run_suite_commands(const std::vector<std::vector<std::string>>& commands,
                                                      std::uint64_t passes, const std::string& budget,
                                                      command_output output, const std::stop_token& stop);

}  // namespace evalcore::cli
