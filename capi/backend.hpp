#pragma once

#include <memory>

#include <evalcore/backend/backend.hpp>
#include <evalcore/c/backend.h>

#include "runtime.hpp"

namespace evalcore::capi {

/// A backend together with the loop that it lives on.
struct shared_backend {
  std::shared_ptr<shared_runtime> runtime;  ///< Outlives the next.
  std::unique_ptr<backend::backend> answers;
};

}  // namespace evalcore::capi

struct evc_backend : evalcore::capi::handle<evc_backend>, evalcore::capi::of_one_process {
  static constexpr const char* word = "evc_backend";
  explicit evc_backend(std::shared_ptr<evalcore::capi::shared_backend> opened) : shared(std::move(opened)) {}
  std::shared_ptr<evalcore::capi::shared_backend> shared;
};
