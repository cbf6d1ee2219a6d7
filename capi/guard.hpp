#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <evalcore/base/result.hpp>

#include "error.hpp"

namespace evalcore::capi {

/// Runs `body`, which returns result<void>, and lets no exception out.
template <class Body>
evc_status guard(evc_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    try {
      if (const result<void> done = body(); !done) return give(done.error(), error);
      return EVC_OK;
    } catch (const std::bad_alloc&) {
      return give(fail(errc::no_memory, stage::none, "out of memory"), error);
    } catch (const std::exception& thrown) {
      return give(fail(errc::internal, stage::none, std::string("evalcore has a bug: ") + thrown.what()),
                  error);
    }
  } catch (...) {
    return EVC_E_NO_MEMORY;
  }
}

}  // namespace evalcore::capi
