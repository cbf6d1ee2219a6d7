#pragma once

#include <evalcore/pool/options.hpp>

namespace CLI {
class App;
}

namespace evalcore::cli {

/// --concurrency, for every command that sends or plans requests. `named` says whether the user did.
void add_concurrency(CLI::App& command, pool::options& into, bool& named);
/// Retries, rates and when to stop, for commands that send.
void add_pool_options(CLI::App& command, pool::options& into);

}  // namespace evalcore::cli
