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
  // One prompt of 576 + 9 tokens; nine each for the same row warm, 15 others, and all 16 together.
  CHECK(toy.prompt_tokens == 585 + 9 * (1 + 15 + 16));
  // Each has a first token, and then batches of 16, 13, 11, 8, 7, 5, 4, 3 and 2 rows have 69.
  CHECK(toy.answer_tokens == 10 + 10 + (15 + 69 - 9) + (16 + 69));
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

TEST_CASE("a batch of any size that is computed in another way is found, of few rows, too") {
  for (const std::uint32_t rows : {2U, 3U, 4U, 6U, 8U, 16U}) {
    for (const std::uint32_t size : {2U, 3U, 4U, 5U, 7U, 8U, 11U, 13U, 16U}) {
      if (size > rows) continue;
      toy_step_engine toy(rows);
      toy.first_token_alone = true;
      toy.wrong_at_width = size;
      CHECK_MESSAGE(verdict_of(toy).width < rows, size, " of ", rows);
    }
  }
}

TEST_CASE("the widest batch that is checked has all rows of the engine") {
  toy_step_engine one(1);
  CHECK(verdict_of(one).width == 1);
  toy_step_engine six(6);
  CHECK(verdict_of(six).width == 6);
}

TEST_CASE("a short context shortens the prefix, and one without room for any proves nothing") {
  toy_step_engine hundred(4, 100);
  CHECK(verdict_of(hundred).width == 4);
  toy_step_engine short_one(4, 64);
  const auto verdict = verdict_of(short_one);
  CHECK(verdict.width == 0);
  CHECK_FALSE(verdict.restores);
  CHECK(verdict.why == "a context of 64 tokens is too short for a comparison");
}

TEST_CASE("rows that the engine refuses prove nothing, and a fault of the engine is an error") {
  toy_step_engine toy;
  toy.open_fault = fail(errc::unsupported, stage::send, "no log probabilities here");
  const auto verdict = verdict_of(toy);
  CHECK(verdict.width == 0);
  CHECK(verdict.why == "the rows of a comparison were refused: no log probabilities here");
  toy.open_fault = fail(errc::backend_fault, stage::send, "broken");
  auto checked = check_parity(toy);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message == "broken");
}

TEST_CASE("a row that fails in the comparison is an error, and so is an engine that does no work") {
  toy_step_engine toy;
  toy.row_fault = fail(errc::backend_fault, stage::body, "no number");
  auto checked = check_parity(toy);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message == "no number");
  CHECK(toy.open_rows() == 0);

  toy_step_engine idle;
  idle.does_nothing = true;
  checked = check_parity(idle);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == errc::backend_fault);
  CHECK(checked.error().message == "toy has rows but does no work on them");
  CHECK(idle.open_rows() == 0);
}

TEST_CASE("a row that cannot leave at once is asked again, and what it says meanwhile does not count") {
  toy_step_engine toy;
  toy.leaves_late = true;
  const auto verdict = verdict_of(toy);
  CHECK(verdict.width == 16);
  CHECK(verdict.restores);
}

TEST_CASE("an engine that cannot keep or restore a prefix is used without, and the note says why") {
  toy_step_engine keeps_none;
  keeps_none.snapshot_fault = fail(errc::unsupported, stage::body, "too large");
  auto verdict = verdict_of(keeps_none);
  CHECK(verdict.width == 16);
  CHECK_FALSE(verdict.restores);
  CHECK(verdict.why == "the engine gave no snapshot");

  toy_step_engine restores_none;
  restores_none.restore_fault = fail(errc::backend_fault, stage::send, "another layout");
  verdict = verdict_of(restores_none);
  CHECK(verdict.width == 16);
  CHECK_FALSE(verdict.restores);
  CHECK(verdict.why == "a prefix cannot be restored: another layout");
}

TEST_CASE("a want of memory is an error of the comparison, and says nothing of what the engine can do") {
  toy_step_engine keeping;
  keeping.snapshot_fault = fail(errc::no_memory, stage::body, "full");
  toy_step_engine restoring;
  restoring.restore_fault = fail(errc::no_memory, stage::send, "full");
  for (auto* toy : {&keeping, &restoring}) {
    const auto checked = check_parity(*toy);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == errc::no_memory);
  }
}

TEST_CASE("without log probabilities the tokens are compared") {
  toy_step_engine toy;
  toy.tells_logprobs = false;
  CHECK(verdict_of(toy).width == 16);
  toy.wrong_from_width = 5;
  const auto verdict = verdict_of(toy);
  CHECK(verdict.width == 4);
  CHECK(verdict.why.ends_with(": other tokens than alone"));
}

TEST_CASE("a note tells what a verdict costs, and nothing where it costs nothing") {
  const traits wide{.max_rows = 16, .snapshots = true};
  const traits plain{.max_rows = 4, .snapshots = false};
  CHECK(note_of({.width = 16, .restores = true, .why = {}}, wide, 16).empty());
  CHECK(note_of({.width = 4, .restores = true, .why = {}}, wide, 4).empty());
  CHECK(note_of({.width = 4, .restores = false, .why = {}}, plain, 16).empty());
  CHECK(note_of({.width = 1, .restores = false, .why = "so"}, wide, 4) ==
        "rows are computed one by one, and prefixes are not kept, so that an answer does not depend on the "
        "others: so");
  CHECK(
      note_of({.width = 4, .restores = true, .why = {}}, wide, 8) ==
      "at most 4 rows share a batch, so that an answer does not depend on the others: wider batches are not "
      "tested");
}
