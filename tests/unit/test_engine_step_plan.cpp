#include <doctest/doctest.h>

#include <string>

#include "engine/step_plan.hpp"

using namespace evalcore::engine;

namespace {

/// "0:1 1:1 | 2:64": rows and their tokens, the batches parted by bars.
std::string planned(const std::vector<row_need>& needs, evaluation mode, std::uint32_t width) {
  step_plan plan;
  plan_step(needs, mode, width, plan);
  std::string text;
  for (std::size_t index = 0; index < plan.ends.size(); ++index) {
    if (index > 0) text += " | ";
    std::string between;
    for (const auto& one : plan.batch(index)) {
      text += between + std::to_string(one.row) + ":" + std::to_string(one.tokens);
      between = " ";
    }
  }
  return text;
}

row_need decoding(std::int32_t sequence) { return {.sequence = sequence, .decodes = true}; }
row_need feeding(std::uint32_t tokens, std::uint32_t chunk = grid) {
  return {.feeds = tokens, .chunk = chunk};
}

}  // namespace

TEST_CASE("in parity a prompt is cut on the grid, and each chunk goes alone") {
  CHECK(planned({feeding(150)}, evaluation::parity, 4) == "0:64 | 0:64 | 0:22");
  CHECK(planned({feeding(64)}, evaluation::parity, 4) == "0:64");
}

TEST_CASE("a step computes at most 256 tokens of prompts, the oldest row first, and only whole chunks") {
  CHECK(planned({feeding(200), feeding(30), feeding(60)}, evaluation::parity, 4) ==
        "0:64 | 0:64 | 0:64 | 0:8 | 1:30");
  CHECK(planned({feeding(1000)}, evaluation::parity, 4) == "0:64 | 0:64 | 0:64 | 0:64");
}

TEST_CASE("continuations are computed in chunks of 63") {
  CHECK(planned({feeding(130, untiled)}, evaluation::parity, 4) == "0:63 | 0:63 | 0:4");
}

TEST_CASE("rows that decode go first and together, in runs of neighbouring sequences") {
  const std::vector<row_need> rows{decoding(3), decoding(1), feeding(10), decoding(0)};
  CHECK(planned(rows, evaluation::parity, 4) == "3:1 1:1 | 0:1 | 2:10");
  CHECK(planned(rows, evaluation::parity, 1) == "3:1 | 1:1 | 0:1 | 2:10");
}

TEST_CASE("no batch is wider than asked for, and a width of none is one") {
  const std::vector<row_need> rows{decoding(0), decoding(1), decoding(2), decoding(3), decoding(4)};
  CHECK(planned(rows, evaluation::parity, 2) == "0:1 1:1 | 2:1 3:1 | 4:1");
  CHECK(planned({decoding(0), decoding(1)}, evaluation::parity, 0) == "0:1 | 1:1");
  CHECK(planned(rows, evaluation::fast, 2) == "0:1 1:1 | 2:1 3:1 | 4:1");
}

TEST_CASE("in fast rows go together whatever the sequences and the grid, with 64 tokens of prompts at most") {
  CHECK(planned({decoding(7), feeding(100), decoding(2), feeding(200)}, evaluation::fast, 8) ==
        "0:1 2:1 1:64 | 1:36 3:28 | 3:64 | 3:64");
}

TEST_CASE("a row that has nothing left has no place in a step") {
  CHECK(planned({feeding(0), feeding(0)}, evaluation::parity, 4).empty());
  CHECK(planned({feeding(0), feeding(3)}, evaluation::fast, 4) == "1:3");
}
