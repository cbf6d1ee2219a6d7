#pragma once

#include <memory>
#include <utility>

#include <evalcore/base/error.hpp>
#include <evalcore/c/error.h>

#include "handle.hpp"

/// The C ABI's error object.
struct evc_error : evalcore::capi::handle<evc_error> {
  static constexpr const char* word = "evc_error";
  explicit evc_error(evalcore::error why) : what(std::move(why)) {}

  evalcore::error what;
  bool borrowed = false;  ///< It belongs to an event, which frees it.
};

namespace evalcore::capi {

[[nodiscard]] constexpr evc_status status_of(errc code) noexcept {
  return -static_cast<evc_status>(static_cast<std::int32_t>(code));
}
/// What foreign code returned, as a failure of evalcore's; backend_fault for a value that is none.
[[nodiscard]] errc code_of(evc_status status) noexcept;

/// Returns the status and, where `out` is there, gives the error object; without memory only the status.
evc_status give(const error& what, evc_error** out) noexcept;

/// For an event to keep.
[[nodiscard]] inline std::unique_ptr<evc_error> borrowed_error(error why) {
  auto made = std::make_unique<evc_error>(std::move(why));
  made->borrowed = true;
  return made;
}

[[nodiscard]] inline evc_str view(std::string_view text) noexcept { return {text.data(), text.size()}; }
[[nodiscard]] inline std::string_view view(evc_str text) noexcept {
  return text.size == 0 ? std::string_view{} : std::string_view(text.data, text.size);
}

}  // namespace evalcore::capi
