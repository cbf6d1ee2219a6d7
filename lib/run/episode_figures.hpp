#pragma once

#include <string>

#include <evalcore/chat/reply.hpp>
#include <evalcore/run/episodes.hpp>

namespace evalcore::run {

/// A reply to what this process sent.
void count(episode_figures& into, const chat::usage& reported);

/// The figures as the store keeps them in runs.summary; docs/episodes.md names the members.
[[nodiscard]] std::string to_json(const episode_figures& of);

}  // namespace evalcore::run
