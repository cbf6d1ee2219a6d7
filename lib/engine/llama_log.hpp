#pragma once

#include <string>

namespace evalcore::engine {

/// Keeps llama.cpp from writing to standard error, in the whole process: its last warnings and errors are
/// kept instead. Any thread, any number of times.
void hush_llama();

/// What it said since the last call, for an error of evalcore's to quote; at most 1 KiB, the end of it.
[[nodiscard]] std::string take_llama_words();

}  // namespace evalcore::engine
