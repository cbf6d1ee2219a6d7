#include <evalcore/chat/request.hpp>

#include <array>

namespace evalcore::chat {

std::string_view name(role who) noexcept {
  switch (who) {
    case role::system:
      return "system";
    case role::developer:
      return "developer";
    case role::user:
      return "user";
    case role::assistant:
      return "assistant";
    case role::tool:
      return "tool";
  }
  return "unknown";
}

std::optional<role> role_from(std::string_view text) noexcept {
  for (const role who : std::array{role::system, role::developer, role::user, role::assistant, role::tool}) {
    if (name(who) == text) return who;
  }
  return std::nullopt;
}

}  // namespace evalcore::chat
