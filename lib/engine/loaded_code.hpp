#pragma once

#include <string>

namespace evalcore::engine {

/// Which files this process may compute with: the one that evalcore is linked into and all libraries that are
/// loaded, each with its size and the time of its last change. Another build of any has another text.
[[nodiscard]] std::string loaded_code();

}  // namespace evalcore::engine
