#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/c/run_options.h>
#include <evalcore/run/runner.hpp>

#include "guard.hpp"
#include "handle.hpp"

struct evc_run_options : evalcore::capi::handle<evc_run_options>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_run_options";

  evalcore::run::run_options how;  ///< Without what follows and what the backend has to do with.
  std::string out;
  std::string store;
  std::optional<std::string> cache;  ///< Empty: only the run's own store.
  bool cache_sampled = false;
  std::string price;
  std::string host_scorer;  ///< Its name; empty: items are scored by their own.
  bool probe = false;
  evalcore::json::object given;  ///< All that was set, for the store.
  std::stop_source planning;
};
