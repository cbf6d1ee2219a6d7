#pragma once

#include <cstdint>

#include <evalcore/c/pool_options.h>
#include <evalcore/pool/options.hpp>

#include "guard.hpp"
#include "handle.hpp"

namespace evalcore::capi {

inline constexpr std::uint32_t most_in_flight = 10'000;

}  // namespace evalcore::capi

struct evc_pool_options : evalcore::capi::handle<evc_pool_options>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_pool_options";

  /// What was set, with what follows from it.
  [[nodiscard]] evalcore::pool::options whole() const {
    auto made = how;
    evalcore::pool::open_loop(made, concurrency_named);
    return made;
  }

  evalcore::pool::options how;
  bool concurrency_named = false;
  std::uint32_t max_outstanding = 65'536;
};
