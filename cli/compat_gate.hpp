#pragma once

#include <stop_token>

#include <evalcore/base/result.hpp>

#include "comparison_arguments.hpp"

namespace evalcore::cli {

/// `evalcore gate --compat`: the exit status.
[[nodiscard]] result<int> compat_gate_command(const gate_arguments& arguments, const std::stop_token& stop);

}  // namespace evalcore::cli
