#pragma once

#include <optional>

#include <evalcore/c/engine_request.h>
#include <evalcore/engine/llama.hpp>
#include <evalcore/engine/options.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/request.hpp>

#include "guard.hpp"
#include "handle.hpp"

struct evc_engine_options : evalcore::capi::handle<evc_engine_options>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_engine_options";
  evalcore::engine::options how;  ///< But for `per_row_sampling`, whose default is not always the same.
  std::optional<bool> per_row_sampling;
  evalcore::engine::prefix_cache_options prefixes;
  evalcore::engine::llama_options model;  ///< Of a GGUF, without what stands above.
  std::string verdict_folder;             ///< Of a GGUF, too.
  const char* only_of_a_model = nullptr;  ///< The name of an option that a table has no use for; null: none.
};

struct evc_engine_request : evalcore::capi::handle<evc_engine_request>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_engine_request";
  evalcore::engine::request what;
  bool progress = false;
};
