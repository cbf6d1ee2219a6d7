#pragma once

#include <string>
#include <string_view>

namespace evalcore::cli {

/// Text of a suite, a server or a model as a terminal may show it: control characters (C0, DEL, C1), the
/// marks that turn the direction of text and bytes that are not UTF-8 become visible escapes; nothing else
/// changes.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace evalcore::cli
