#pragma once

#include <string_view>

#include <evalcore/base/json.hpp>

namespace evalcore::run {

/// A member of an object; null where it is not there, or JSON's null, which many writers mean by that.
[[nodiscard]] inline const json::value* present(const json::value& root, std::string_view name) noexcept {
  const auto* found = root.find(name);
  return found != nullptr && !found->is_null() ? found : nullptr;
}

}  // namespace evalcore::run
