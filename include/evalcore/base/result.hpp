#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <evalcore/base/error.hpp>

namespace evalcore {

/// A value, or the error that stands in its place. The surface of C++23's std::expected, as far as it
/// is used here; the error type is always evalcore::error.
///
/// Reading value() of a failed result is a programming error and throws std::bad_variant_access.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  result(evalcore::error failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  evalcore::error& error() & { return std::get<1>(state_); }
  const evalcore::error& error() const& { return std::get<1>(state_); }
  evalcore::error&& error() && { return std::get<1>(std::move(state_)); }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  std::variant<T, evalcore::error> state_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;

  result() = default;
  result(evalcore::error failure) : failure_(std::move(failure)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool has_value() const noexcept { return !failure_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  evalcore::error& error() & { return failure_.value(); }
  const evalcore::error& error() const& { return failure_.value(); }
  evalcore::error&& error() && { return std::move(failure_).value(); }

 private:
  std::optional<evalcore::error> failure_;
};

/// `return fail(errc::not_found, stage::start, "…");` from a function that returns any result<T>.
[[nodiscard]] inline error fail(errc code, stage at, std::string message) {
  error failure;
  failure.code = code;
  failure.at = at;
  failure.message = std::move(message);
  return failure;
}

}  // namespace evalcore
