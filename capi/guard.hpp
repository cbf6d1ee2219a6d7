#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <evalcore/base/result.hpp>

#include "error.hpp"
#include "handle.hpp"

namespace evalcore::capi {

/// What the exception that is being handled is to a host. One that is no std::exception is thrown on.
[[nodiscard]] inline error caught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, stage::none, "out of memory");
  } catch (const std::exception& thrown) {
    return fail(errc::internal, stage::none, std::string("evalcore has a bug: ") + thrown.what());
  }
}

/// Runs `body`, which returns result<void>, and lets no exception out.
template <class Body>
evc_status guard(evc_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    try {
      if (const result<void> done = body(); !done) return give(done.error(), error);
      return EVC_OK;
    } catch (...) {
      return give(caught(), error);
    }
  } catch (...) {
    return EVC_E_NO_MEMORY;
  }
}

/// The base of options whose setters have no place for an error.
struct tells_refusal {
  std::string refusal;  ///< Why the last call that set something was refused; empty: it was not.
};

template <class Options>
[[nodiscard]] evc_str refusal_of(const Options* options) noexcept {
  return look_at(options, evc_str{}, [](const tells_refusal& of) { return view(of.refusal); });
}

/// guard() for what sets an option: why it is refused stays with the options.
template <class Options, class Body>
evc_status guard_set(Options* options, Body&& body, evc_error** error = nullptr) noexcept {
  return guard(error, [&]() -> result<void> {
    if (auto good = check_live(options); !good) return good;
    result<void> done = body();
    options->refusal = done ? std::string() : done.error().message;
    return done;
  });
}

}  // namespace evalcore::capi
