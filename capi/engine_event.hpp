#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <evalcore/c/engine.h>
#include <evalcore/engine/phase_events.hpp>
#include <evalcore/engine/runtime.hpp>

#include "error.hpp"
#include "handle.hpp"

struct evc_engine_event : evalcore::capi::handle<evc_engine_event> {
  static constexpr const char* word = "evc_engine_event";
  std::int32_t kind = 0;
  std::uint64_t ticket = 0;
  std::uint64_t tag = 0;
  std::int32_t token = 0;
  std::string text;
  std::string json;
  std::unique_ptr<evc_error> failure;
};

namespace evalcore::capi {

using event_ptr = std::unique_ptr<evc_engine_event>;

/// Each makes an event but for its ticket and tag.
[[nodiscard]] event_ptr event_of(const engine::phase_event& progress);
[[nodiscard]] event_ptr event_of(engine::piece&& one);
/// `note`: what to say of the engine with each answer; empty: nothing.
[[nodiscard]] event_ptr event_of(result<engine::answer>&& end, const std::string& note);

}  // namespace evalcore::capi
