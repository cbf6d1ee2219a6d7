#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <evalcore/base/result.hpp>

#include "error.hpp"

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

}  // namespace evalcore::capi
