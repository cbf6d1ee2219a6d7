#pragma once

#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// Whether the first turn begins with the text of a token of beginning ("<s>", "<|begin_of_text|>", …), which
/// tokenizers and templates put there themselves: a model that gets two may answer worse.
[[nodiscard]] bool begins_with_bos(const request& of) noexcept;

}  // namespace evalcore::chat
