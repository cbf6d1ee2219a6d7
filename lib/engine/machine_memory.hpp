#pragma once

#include <filesystem>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// The machine's memory of now, as the system tells it in files below `root`: all of it, what this process
/// uses of it, and what is free for programs. What a control group of this process (cgroup v1 or v2, or one
/// above it) may use counts as the machine's where that is less. Files that this process has mapped, such as
/// a model, do not count as free, although the system could let go of them: they would be read again at once.
/// What no file tells is absent.
[[nodiscard]] memory_report machine_memory(const std::filesystem::path& root = "/");

}  // namespace evalcore::engine
