#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <evalcore/c/event.h>

#include "error.hpp"
#include "handle.hpp"
#include "reply.hpp"

struct evc_event : evalcore::capi::handle<evc_event> {
  static constexpr const char* word = "evc_event";

  explicit evc_event(std::int32_t of_kind) : kind(of_kind) {}

  std::int32_t kind;
  std::uint64_t ticket = 0;
  std::uint64_t tag = 0;
  std::string text;
  std::string json;
  std::unique_ptr<evc_reply> reply;
  std::unique_ptr<evc_error> failure;
};

namespace evalcore::capi {

using pool_event = std::unique_ptr<evc_event>;

/// An event that says why something failed.
[[nodiscard]] pool_event failed_event(std::int32_t kind, const error& why);

}  // namespace evalcore::capi
