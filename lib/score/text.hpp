#pragma once

#include <string>
#include <string_view>

namespace evalcore::score {

/// Without the white space (ASCII) at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// At most about 200 bytes of a text, for a reason or an extract; cut between characters and marked.
[[nodiscard]] std::string clipped(std::string_view text);

}  // namespace evalcore::score
