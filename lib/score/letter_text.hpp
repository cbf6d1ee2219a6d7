#pragma once

#include <optional>
#include <set>
#include <string_view>

namespace evalcore::score {

/// The letters, in upper case, that a text chooses of those in `letters`; absent: none. What follows the last
/// word for "answer" counts, be it in brackets, bold or boxed; else the last letter that stands alone. The
/// pronoun I and the article "a" are no choices. Takes linear time.
[[nodiscard]] std::optional<std::set<char>> chosen_letters(std::string_view text, std::string_view letters);

}  // namespace evalcore::score
