#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "faults/cases.hpp"

namespace evalcore::faults {

struct run {
  const fault* which = nullptr;
  form how;
  verdict found;
  duration took{};
};

/// Runs each in a process of its own, `at_once` at a time (busy ones by twos, and last), sorts them so and
/// fills in what was found. One that takes longer
/// than `patience` is ended and counts as a hang; one that crashes, as unkept. All of them end with this
/// process. Call while it has one thread.
void run_in_children(std::vector<run>& all, std::size_t at_once, duration patience);

/// `name` against the same fault: an API, streamed or not, and the number.
[[nodiscard]] std::string name_of(const run& one);

/// `count` runs of one fault, spread over both APIs, streamed and not.
[[nodiscard]] std::vector<run> runs_of(const fault& which, std::size_t count);

}  // namespace evalcore::faults
