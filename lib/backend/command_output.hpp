#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::backend {

/// What a program prints on standard output, at most limits::process_log_bytes; `words` are its name and its
/// arguments. It is run without a shell, with no standard input; its standard error is dropped. It is ended
/// with its children when it takes longer than `patience` or `stop` comes.
///
/// Errors: not_found and invalid_argument as find_program; backend_fault (it cannot be started, or ended in
/// another way than with exit code 0), timeout, cancelled. None shows what it printed.
[[nodiscard]] result<std::string> command_output(const std::vector<std::string>& words,
                                                 std::chrono::milliseconds patience,
                                                 const std::stop_token& stop);

}  // namespace evalcore::backend
