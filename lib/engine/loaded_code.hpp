#pragma once

#include <string>

namespace evalcore::engine {

/// Which files this process computes with: the one that evalcore is linked into and llama.cpp's libraries,
/// each with its size and the time of its last change. Another build of either has another text.
[[nodiscard]] std::string loaded_code();

}  // namespace evalcore::engine
