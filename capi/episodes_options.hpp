#pragma once

#include <evalcore/c/episodes.h>
#include <evalcore/run/episodes.hpp>

#include "guard.hpp"
#include "handle.hpp"

struct evc_episodes_options : evalcore::capi::handle<evc_episodes_options>, evalcore::capi::tells_refusal {
  static constexpr const char* word = "evc_episodes_options";
  evalcore::run::episode_options how;
};
