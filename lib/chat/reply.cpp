#include <evalcore/chat/reply.hpp>

namespace evalcore::chat {

std::string_view name(finish_reason why) noexcept {
  switch (why) {
    case finish_reason::stop:
      return "stop";
    case finish_reason::length:
      return "length";
    case finish_reason::tool_calls:
      return "tool_calls";
    case finish_reason::content_filter:
      return "content_filter";
    case finish_reason::other:
      return "other";
  }
  return "unknown";
}

}  // namespace evalcore::chat
