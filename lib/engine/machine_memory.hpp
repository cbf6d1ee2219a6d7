#pragma once

#include <string_view>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// The machine's memory, from the texts of /proc/meminfo and /proc/self/status: all of it, what this process
/// uses of it, and what is free for programs.
[[nodiscard]] memory_report read_memory(std::string_view meminfo, std::string_view status);

/// The same, of now. Absent where the system has no such files.
[[nodiscard]] memory_report machine_memory();

}  // namespace evalcore::engine
