#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/c/backend.h>

#include "runtime.hpp"

namespace evalcore::capi {

class host_backend;

/// A backend together with the loop that it lives on.
struct shared_backend {
  std::shared_ptr<shared_runtime> runtime;  ///< Outlives the next.
  std::unique_ptr<backend::backend> answers;
  std::string model;    ///< As the host named it; empty: it did not.
  bool at_url = false;  ///< A server that was running, which is told the model with each request.
};

/// The endpoints of one pool or run. Errors: invalid_argument when there is none, or they do not belong
/// together.
[[nodiscard]] result<std::vector<std::shared_ptr<shared_backend>>> endpoints_of(const evc_runtime* runtime,
                                                                                evc_backend* const* endpoints,
                                                                                std::size_t count);
[[nodiscard]] std::vector<backend::backend*> answering(
    const std::vector<std::shared_ptr<shared_backend>>& endpoints);

}  // namespace evalcore::capi

struct evc_backend : evalcore::capi::handle<evc_backend>, evalcore::capi::of_one_process {
  static constexpr const char* word = "evc_backend";
  explicit evc_backend(std::shared_ptr<evalcore::capi::shared_backend> opened,
                       evalcore::capi::host_backend* played = nullptr)
      : shared(std::move(opened)), host(played) {}
  ~evc_backend();
  evc_backend(const evc_backend&) = delete;
  evc_backend& operator=(const evc_backend&) = delete;

  std::shared_ptr<evalcore::capi::shared_backend> shared;
  evalcore::capi::host_backend* host;  ///< What `shared` has, if the host plays it; else null.
};
