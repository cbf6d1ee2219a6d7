#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include <evalcore/base/peak_memory.hpp>

TEST_CASE("the most memory so far has what was in use at once, and does not fall when that is given back") {
  constexpr std::size_t much = std::size_t{64} << 20U;
  {
    std::vector<char> used(much, 'x');  // Written, so that it is really there.
    REQUIRE(evalcore::peak_memory());
    CHECK(*evalcore::peak_memory() >= much);
    CHECK(used[much / 2] == 'x');
  }
  CHECK(*evalcore::peak_memory() >= much);
  CHECK(*evalcore::peak_memory() < 100 * much);
}
