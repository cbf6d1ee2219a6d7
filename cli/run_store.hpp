#pragma once

#include <evalcore/run/run_files.hpp>

namespace evalcore::cli {

using run::store_in;

}  // namespace evalcore::cli
