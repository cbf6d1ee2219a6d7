#pragma once

#include <cstdint>

#include <evalcore/c/gate.h>

namespace evalcore::capi {

/// One of EVC_GATE_…, to a host that wants it.
inline void tell(std::int32_t* verdict, std::int32_t says) noexcept {
  if (verdict != nullptr) *verdict = says;
}

}  // namespace evalcore::capi
