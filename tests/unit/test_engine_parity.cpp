#include <doctest/doctest.h>

#include <evalcore/engine/parity.hpp>

#include "unit/toy_step_engine.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

parity_verdict verdict_of(toy_step_engine& toy) {
  auto checked = check_parity(toy);
  REQUIRE(checked);
  CHECK(toy.open_rows() == 0);
  return *checked;
}

}  // namespace

TEST_CASE(
    "an engine whose answers depend on nothing is safe at every width, and the prefix is computed once") {
  toy_step_engine toy;
  const auto verdict = verdict_of(toy);
  CHECK(verdict.width == 16);
  CHECK(verdict.restores);
  CHECK(verdict.why.empty());
  // One prompt of 576 + 9 tokens; nine each for the same row warm, 15 others, and 16 rows at five widths.
  CHECK(toy.prompt_tokens == 585 + 9 * (1 + 15 + 80));
}

TEST_CASE("a difference of one bit from a width on makes the width below it the widest safe one") {
  for (const auto& [wrong, safe] : {std::pair{2U, 1U}, {3U, 2U}, {5U, 4U}, {9U, 8U}, {16U, 8U}}) {
    toy_step_engine toy;
    toy.wrong_from_width = wrong;
    const auto verdict = verdict_of(toy);
    CHECK(verdict.width == safe);
    CHECK(verdict.restores);
    CHECK(verdict.why.starts_with("in batches of "));
  }
}

TEST_CASE("a restored prefix that changes a bit is found, and the widths are then checked without it") {
  toy_step_engine toy;
  toy.wrong_when_restored = true;
  const auto verdict = verdict_of(toy);
  CHECK_FALSE(verdict.restores);
  CHECK(verdict.width == 16);
  CHECK(verdict.why.starts_with("from a restored prefix, row 1: token 1 "));
}

TEST_CASE("rows that change even one by one when others are open have no safe width") {
  toy_step_engine toy;
  toy.wrong_beside_others = true;
  CHECK(verdict_of(toy).width == 0);
}

TEST_CASE("the widest batch that is checked has all rows of the engine") {
  toy_step_engine one(1);
  CHECK(verdict_of(one).width == 1);
  toy_step_engine six(6);
  CHECK(verdict_of(six).width == 6);
}

TEST_CASE("a short context shortens the prefix, and one without room for any is refused") {
  toy_step_engine hundred(4, 100);
  CHECK(verdict_of(hundred).width == 4);
  toy_step_engine short_one(4, 64);
  auto checked = check_parity(short_one);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == errc::invalid_argument);
}
