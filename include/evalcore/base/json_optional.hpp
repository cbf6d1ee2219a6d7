#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <evalcore/base/json.hpp>

namespace evalcore::json {

/// What is not known is null.
template <class T>
[[nodiscard]] value or_null(const std::optional<T>& of) {
  if (!of) return {};
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return std::uint64_t{*of};
  } else {
    return *of;
  }
}

/// The same of texts whose absence is the empty one.
[[nodiscard]] inline value text_or_null(const std::string& of) { return of.empty() ? value() : value(of); }

}  // namespace evalcore::json
