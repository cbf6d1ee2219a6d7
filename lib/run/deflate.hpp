#pragma once

#include <string>
#include <string_view>

namespace evalcore::run {

/// The bytes in zlib's format (RFC 1950), as a browser's DecompressionStream reads it ("deflate"). The same
/// bytes always give the same.
[[nodiscard]] std::string deflated(std::string_view bytes);

}  // namespace evalcore::run
