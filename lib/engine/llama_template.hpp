#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/engine/step_engine.hpp>

#include "engine/date_in_text.hpp"

namespace evalcore::engine {

/// How a model wants its chats written: by the built-in template of llama.cpp that its own is recognised as.
/// Those know no tools; tools go into the system turn as chat::with_tools_as_text() has it.
class chat_template {
 public:
  /// `source`: the model's own, empty where it has none.
  explicit chat_template(std::string source);

  /// `today`: for the warning about a text that shows it. Errors: unsupported; invalid_argument (a NUL).
  [[nodiscard]] result<rendered> render(const chat::request& request, std::string_view beginning,
                                        const calendar_day& today) const;

 private:
  std::string source_;
  std::string name_;  ///< Of the built-in one; empty: none is like it.
};

}  // namespace evalcore::engine
