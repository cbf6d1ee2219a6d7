#include <doctest/doctest.h>

#include "faults/children.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

// The whole of it is `scripts/bench faults`: these faults, a hundred times each.
TEST_CASE("every fault of a server or a network ends in time, in a whole answer or a failure of a kind") {
  faults::prepare_floods();
  std::vector<faults::run> all;
  std::size_t number = 0;
  for (const auto& one : faults::faults()) {
    // Each fault twice, in other variants and forms than the one before it.
    const auto runs = faults::runs_of(one, number + 6);
    all.insert(all.end(), {runs[number], runs[number + 5]});
    number += 9;
  }
  faults::run_in_children(all, 8, 60s);
  for (const auto& one : all) {
    CAPTURE(faults::name_of(one));
    CAPTURE(one.found.unkept);
    CHECK_FALSE(one.found.hang);
    CHECK_FALSE(one.found.silent);
    CHECK_FALSE(one.found.untyped);
    // A machine that gives no network of one's own cannot make some of them.
    CHECK(one.found.unkept.empty());
  }
}
