#pragma once

#include <evalcore/c/engine_request.h>
#include <evalcore/engine/options.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/request.hpp>

#include "handle.hpp"

struct evc_engine_options : evalcore::capi::handle<evc_engine_options> {
  static constexpr const char* word = "evc_engine_options";
  evalcore::engine::options how{.per_row_sampling = false};
  evalcore::engine::prefix_cache_options prefixes;
};

struct evc_engine_request : evalcore::capi::handle<evc_engine_request> {
  static constexpr const char* word = "evc_engine_request";
  evalcore::engine::request what;
  bool progress = false;
};
