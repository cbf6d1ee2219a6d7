#pragma once

#include <string>

#include <evalcore/base/json.hpp>

namespace evalcore::run {

/// A page from its first byte to where its data begins. Its policy lets no script or style run but those that
/// evalcore put there, named by their hashes, and nothing be loaded or sent.
[[nodiscard]] std::string report_front();

/// The rest of it. `what`: all that is not of a single item.
[[nodiscard]] std::string report_end(const json::value& what);

/// JSON as it may stand in a script element: nothing in it ends the element, opens a comment or is a line end
/// to a script. It reads as the same value.
[[nodiscard]] std::string json_for_page(const json::value& what);

}  // namespace evalcore::run
