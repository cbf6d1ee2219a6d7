#pragma once

#include <ostream>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/store.hpp>

namespace evalcore::run {

/// Writes what became of each episode of a suite (episode_options::suite), by id and epoch: JSON lines, one
/// for each turn and one for the end of an episode that has one; docs/episodes.md names the members. Not
/// while `episodes` has the store. Errors: storage, also when `to` fails.
[[nodiscard]] result<void> write_episode_traces(store& from, const std::string& suite, std::ostream& to);

}  // namespace evalcore::run
