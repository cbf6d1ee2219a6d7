#pragma once

#include <string>
#include <utility>

#include <evalcore/c/text.h>

#include "handle.hpp"

struct evc_text : evalcore::capi::handle<evc_text> {
  static constexpr const char* word = "evc_text";
  explicit evc_text(std::string says) : what(std::move(says)) {}
  std::string what;
};
