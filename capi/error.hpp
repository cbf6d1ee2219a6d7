#pragma once

#include <evalcore/base/error.hpp>
#include <evalcore/c/error.h>

/// The C ABI's error object.
struct evc_error {
  evalcore::error what;
};

namespace evalcore::capi {

[[nodiscard]] constexpr evc_status status_of(errc code) noexcept {
  return -static_cast<evc_status>(static_cast<std::int32_t>(code));
}
/// What foreign code returned, as a failure of evalcore's; backend_fault for a value that is none.
[[nodiscard]] errc code_of(evc_status status) noexcept;

/// Returns the status and, where `out` is there, gives the error object; without memory only the status.
evc_status give(const error& what, evc_error** out) noexcept;

[[nodiscard]] inline evc_str view(std::string_view text) noexcept { return {text.data(), text.size()}; }
[[nodiscard]] inline std::string_view view(evc_str text) noexcept {
  return text.size == 0 ? std::string_view{} : std::string_view(text.data, text.size);
}

}  // namespace evalcore::capi
