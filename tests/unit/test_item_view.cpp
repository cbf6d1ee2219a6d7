#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/run/item_view.hpp>

using namespace evalcore;
using ids = std::vector<std::string>;

TEST_CASE("ids that are near come in the order of how near they are") {
  const ids all{"simple_python_1", "simple_python_21", "multiple_1", "simple_java_1"};
  CHECK(run::near_ids("simple_pyton_21", all) == ids{"simple_python_21", "simple_python_1", "simple_java_1"});
  CHECK(run::near_ids("simple_pyton_21", all, 1) == ids{"simple_python_21"});
}

TEST_CASE("an id that is like none has none near it") {
  CHECK(run::near_ids("zzz", {"abc", "abd"}).empty());
  CHECK(run::near_ids("", {"abc"}).empty());
  CHECK(run::near_ids("abc", {}).empty());
}

TEST_CASE("half of an id may differ") {
  // kitten and sitting are three apart, as Levenshtein's own example has it.
  CHECK(run::near_ids("kitten", {"sitting"}) == ids{"sitting"});
  CHECK(run::near_ids("kitten", {"kit"}) == ids{"kit"});
  CHECK(run::near_ids("kitten", {"ki"}).empty());
}

TEST_CASE("an id without end costs no more than a long one") {
  const std::string endless(1'000'000, 'a');
  CHECK(run::near_ids(endless, {endless, "b"}) == ids{endless});
}
