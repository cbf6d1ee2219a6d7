#pragma once

#include <string_view>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::score {

/// In which language the functions of a category of BFCL are written.
[[nodiscard]] chat::call_language bfcl_language(std::string_view category) noexcept;

}  // namespace evalcore::score
