#pragma once

#include <string>
#include <string_view>

namespace evalcore::score {

/// Python's str.lower() of UTF-8 text: İ becomes two characters, a Σ that ends a word becomes ς. Bytes that
/// are not UTF-8 stay as they are.
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace evalcore::score
