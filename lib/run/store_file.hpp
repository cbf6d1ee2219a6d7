#pragma once

#include <string>

#include <evalcore/base/result.hpp>

#include "run/store_sql.hpp"

namespace evalcore::run {

/// The store's file, ready for use: created 0600 with its tables or recognised as a store of this schema,
/// held by this process alone, in WAL mode. Errors: as store::open().
[[nodiscard]] result<sql_database> open_store_file(const std::string& path);

}  // namespace evalcore::run
