#pragma once

#include <optional>
#include <string>

#include <evalcore/backend/chat_call.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/run/item_view.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::cli {

/// What came when a request was sent once more.
struct resent_reply {
  std::string answered_by;            ///< Selector and model.
  std::optional<std::string> prompt;  ///< As the model saw it; absent: the backend does not tell.
  chat::reply reply;
  score::verdict verdict;
};

/// For a terminal. `call`: an error where there is no request of HTTP; `again`: null: it was not sent again.
void print_item(const run::item_view& of, const result<backend::chat_call>& call, const resent_reply* again);

}  // namespace evalcore::cli
