#pragma once

#include <map>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

#include "wire/json_view.hpp"

namespace evalcore::wire {

/// Puts tool calls together from the fragments of a stream. By the book a fragment is addressed by `index`;
/// servers also leave out the index, the id or both, repeat one index for parallel calls, send a new id with
/// each fragment, or write null for what did not change. The name tells where a call begins.
class call_assembler {
 public:
  /// One element of a delta's `tool_calls`. Errors: bad_reply for what is no fragment, and for arguments that
  /// are neither text nor JSON object.
  [[nodiscard]] result<void> add(const element& fragment);

  /// Once, at the end. Errors: bad_reply for a call that never got a name.
  [[nodiscard]] result<std::vector<chat::tool_call>> take();

 private:
  std::size_t slot_for(const element& fragment, std::string_view id, std::string_view name);
  std::size_t open();

  std::vector<chat::tool_call> calls_;
  std::map<std::int64_t, std::size_t> by_index_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
};

/// The arguments of one call as JSON text: a string as it is, an object as its text, nothing as "".
/// Errors: bad_reply for anything else.
[[nodiscard]] result<std::string> arguments_text(const element& function);

}  // namespace evalcore::wire
