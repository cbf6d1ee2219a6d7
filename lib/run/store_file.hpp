#pragma once

#include <string>

#include <evalcore/base/result.hpp>

#include "run/store_sql.hpp"

namespace evalcore::run {

/// The store's file, ready for use: created 0600 with its tables or recognised as a store of this schema,
/// held by this process alone, in WAL mode. Errors: as store::open().
[[nodiscard]] result<sql_database> open_store_file(const std::string& path);

/// The same for one who only reads. What this process may not write, as in an archive, is read as it stands.
/// Errors: not_found; as store::open(); storage, too, for a file that cannot be written and is of an earlier
/// schema or has a log beside it, as one does that is in use or whose last process was killed.
[[nodiscard]] result<sql_database> open_store_file_to_read(const std::string& path);

}  // namespace evalcore::run
