#pragma once

#include <cstddef>
#include <string_view>

namespace evalcore::chat {

/// How much of a context comes before the blanks (ASCII) at its end, which belong to the continuation, as
/// lm-eval has it.
[[nodiscard]] std::size_t size_without_end_blanks(std::string_view context);

}  // namespace evalcore::chat
