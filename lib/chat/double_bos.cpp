#include <evalcore/chat/double_bos.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace evalcore::chat {

bool begins_with_bos(const request& of) noexcept {
  static constexpr auto spellings =
      std::to_array<std::string_view>({"<s>", "<bos>", "[BOS]", "<|begin_of_text|>", "<|startoftext|>",
                                       "<|begin_of_sentence|>", "<｜begin▁of▁sentence｜>"});
  if (of.messages.empty()) return false;
  const std::string_view text = of.messages.front().text;
  return std::ranges::any_of(spellings, [&](auto one) { return text.starts_with(one); });
}

}  // namespace evalcore::chat
