#pragma once

#include <cstdint>

#include <evalcore/c/pool_options.h>
#include <evalcore/pool/options.hpp>

#include "handle.hpp"

namespace evalcore::capi {

inline constexpr std::uint32_t most_in_flight = 10'000;

}  // namespace evalcore::capi

struct evc_pool_options : evalcore::capi::handle<evc_pool_options> {
  static constexpr const char* word = "evc_pool_options";

  evalcore::pool::options how;
  std::uint32_t max_outstanding = 65'536;
};
