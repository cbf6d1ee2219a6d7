#pragma once

#include <string>

#include <evalcore/base/json.hpp>

namespace evalcore::score {

/// Why the library that validates must not be given a JSON schema: what it does on the schema, or on a reply,
/// would have no bound, or end the process. Empty: it may have it.
[[nodiscard]] std::string schema_fault(const json::value& schema);

}  // namespace evalcore::score
