#pragma once

#include <vector>

#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// The turn that an answer becomes in the history of what comes after it: text, calls and reasoning byte for
/// byte as they were received, so that what the backend has in its cache goes on to fit. Whether reasoning
/// has a place in its API is for the encoder of the dialect to say.
[[nodiscard]] message assistant_turn(const reply& from);

/// The next request of a conversation: `asked`, then its answer, then what follows it (the results of tools,
/// a user's words). Nothing of `asked` changes.
[[nodiscard]] request continued(request asked, const reply& answer, std::vector<message> next);

}  // namespace evalcore::chat
