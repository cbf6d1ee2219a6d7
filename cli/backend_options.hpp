#pragma once

#include "arguments.hpp"

namespace CLI {
class App;
}

namespace evalcore::cli {

/// Which backend, how to reach or start it, its deadlines, and --quiet. An option of another kind of backend
/// than the one that is named is refused.
void add_backend_options(CLI::App& app, backend_arguments& into, bool& quiet);

}  // namespace evalcore::cli
