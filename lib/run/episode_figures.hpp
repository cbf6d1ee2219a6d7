#pragma once

#include <evalcore/chat/reply.hpp>
#include <evalcore/run/episodes.hpp>

namespace evalcore::run {

/// A reply to what this process sent.
void count(episode_figures& into, const chat::usage& reported);

}  // namespace evalcore::run
