#pragma once

#include <string>

#include <evalcore/base/result.hpp>

namespace evalcore::capi {

/// Where a build keeps book of the handles that are alive: EVALCORE_LIVE_HANDLES is defined in builds for
/// debugging and with sanitizers.
#ifdef EVALCORE_LIVE_HANDLES
inline constexpr bool keeps_book = true;
#else
inline constexpr bool keeps_book = false;
#endif

/// A type's own address, to tell handles of one type from those of another at the same place.
template <class T>
inline constexpr char type_mark = 0;

void note_live(const void* handle, const void* type);
void note_freed(const void* handle, const void* type) noexcept;
[[nodiscard]] bool known_live(const void* handle, const void* type) noexcept;

/// The base of what stands behind a handle. T names itself in T::word, for messages.
template <class T>
class handle {
 public:
  handle() {
    if constexpr (keeps_book) note_live(static_cast<const T*>(this), &type_mark<T>);
  }
  handle(const handle&) : handle() {}
  handle& operator=(const handle&) noexcept { return *this; }
  ~handle() {
    if constexpr (keeps_book) note_freed(static_cast<const T*>(this), &type_mark<T>);
  }
};

/// Whether the handle may be touched; where no book is kept, all but NULL may.
template <class T>
[[nodiscard]] bool is_live(const T* given) noexcept {
  if (given == nullptr) return false;
  if constexpr (keeps_book) return known_live(given, &type_mark<T>);
  return true;
}

/// Errors: invalid_argument.
template <class T>
[[nodiscard]] result<void> check_live(const T* given) {
  if (is_live(given)) return {};
  auto wrong = fail(
      errc::invalid_argument, stage::none,
      std::string("the ") + T::word + (given == nullptr ? " is NULL" : " was freed, or is something else"));
  wrong.detail = given == nullptr ? "null" : "freed_handle";
  return wrong;
}

/// What `look` finds; `otherwise` for a handle that cannot be touched, and without memory.
template <class T, class R, class Look>
[[nodiscard]] R look_at(const T* given, R otherwise, Look&& look) noexcept {
  try {
    return is_live(given) ? R(look(*given)) : otherwise;
  } catch (...) {
    return otherwise;
  }
}

/// Nothing to do for NULL and, where that is known, for what was freed before.
template <class T>
void free_handle(T* given) noexcept {
  if (is_live(given)) delete given;
}

}  // namespace evalcore::capi
