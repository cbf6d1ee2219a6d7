#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/embedded.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/backend/managed_server.hpp>
#include <evalcore/c/backend.h>

#include "guard.hpp"
#include "handle.hpp"

namespace evalcore::capi {

/// Kinds of backends, or'ed.
enum backend_kind : unsigned {
  embedded_kind = 1,
  managed_kind = 2,
  openai_kind = 4,
  anthropic_kind = 8,
  scripted_kind = 16,
};
inline constexpr unsigned url_kinds = openai_kind | anthropic_kind;
inline constexpr unsigned local_kinds = embedded_kind | managed_kind;
inline constexpr unsigned server_kinds = managed_kind | url_kinds;

/// An option that was set, and whose it is.
struct named_option {
  const char* name;
  unsigned kinds;
};

}  // namespace evalcore::capi

struct evc_backend_options : evalcore::capi::handle<evc_backend_options>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_backend_options";

  std::string model;
  std::string script;
  std::uint32_t slots = 4;
  std::uint32_t context_per_slot = 4096;
  std::uint32_t threads = 1;
  evalcore::net::deadlines deadlines;
  // Each without what stands above.
  evalcore::backend::http_options http;
  evalcore::backend::managed_options managed;
  evalcore::backend::embedded_options embedded;
  std::vector<evalcore::capi::named_option> given;
  std::stop_source opening;  ///< Copies share it.
};
