// Whatever runs beside a row and wherever its prefix came from: the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include <evalcore/engine/parity.hpp>

#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

std::unique_ptr<step_engine> open_canned(const char* file, evaluation mode = evaluation::parity,
                                         std::uint32_t threads = 1) {
  return must_open({.model_path = canned_model(file),
                    .mode = mode,
                    .max_rows = 16,
                    .context_tokens = 1024,
                    .threads = threads});
}

/// A shared prefix of 576 tokens, beyond the 512 cells from which attention takes other paths, and tails of
/// different lengths.
std::vector<std::vector<token>> prompts_of(step_engine& engine, std::size_t count) {
  const auto prefix = some_prompt(engine, 576, 4);
  std::vector<std::vector<token>> prompts;
  for (std::size_t index = 0; index < count; ++index) {
    auto& prompt = prompts.emplace_back(prefix);
    const auto tail = some_prompt(engine, 5 + index * 4, static_cast<unsigned>(index + 11));
    prompt.insert(prompt.end(), tail.begin(), tail.end());
  }
  return prompts;
}

}  // namespace

TEST_CASE("quantised weights are safe at every width, and a restored prefix is as good as a computed one") {
  const auto engine = open_canned("canned-q8_0.gguf");
  auto checked = check_parity(*engine);
  REQUIRE(checked);
  CHECK(checked->width == 16);
  CHECK(checked->restores);
  CHECK_MESSAGE(checked->why.empty(), checked->why);
}

TEST_CASE("unquantised weights are found unsafe in any batch, however few rows there are") {
  for (const std::uint32_t rows : {2U, 3U, 4U, 6U, 8U, 16U}) {
    const auto engine =
        must_open({.model_path = canned_model("canned.gguf"), .max_rows = rows, .context_tokens = 1024});
    auto checked = check_parity(*engine);
    REQUIRE(checked);
    CHECK_MESSAGE(checked->width == 1, rows);
  }
}

TEST_CASE("for unquantised weights the verdict is that of comparing all rows at each width") {
  const auto engine = open_canned("canned.gguf");
  auto checked = check_parity(*engine);
  REQUIRE(checked);
  CHECK(checked->restores);
  const auto prompts = prompts_of(*engine, 16);
  std::vector<row_answer> alone;
  for (const auto& prompt : prompts) alone.push_back(must_run_alone(*engine, greedy_row(prompt, 6)));
  std::uint32_t safe = 0;
  for (const std::uint32_t width : {1U, 2U, 4U, 8U, 16U}) {
    std::vector<planned_row> rows;
    for (const auto& prompt : prompts) rows.push_back(greedy_row(prompt, 6));
    const auto answers = must_run(*engine, std::move(rows), 16, width);
    const bool same = std::ranges::equal(
        answers, alone, [](const row_answer& a, const row_answer& b) { return a.same_bits(b); });
    if (!same) break;
    safe = width;
  }
  CHECK(checked->width == safe);
}

TEST_CASE(
    "shuffled rows that join and leave at different times have the bits that they have alone and cold") {
  const auto engine = open_canned("canned-q8_0.gguf");
  const auto prompts = prompts_of(*engine, 24);
  std::vector<row_answer> alone;
  std::shared_ptr<const snapshot> kept;
  for (const auto& prompt : prompts) {
    auto row = greedy_row(prompt, 12);
    row.request.cuts = {576};
    alone.push_back(must_run_alone(*engine, std::move(row)));
    kept = std::exchange(alone.back().kept, nullptr);
  }
  std::vector<std::size_t> order(prompts.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(7);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);

  std::vector<planned_row> rows;
  for (const auto index : order) {
    auto row = greedy_row(prompts[index], 12);
    if (index % 5 != 0) {
      row.request.from = kept;
      row.request.restored = index % 2 == 0 ? 576 : 320;
    }
    row.leaves_after = index % 3 == 0 ? static_cast<std::uint32_t>(1 + index % 11) : 0;
    rows.push_back(std::move(row));
  }
  const auto answers = must_run(*engine, std::move(rows), 16, 16);
  std::uint32_t widest = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    auto wanted = alone[order[at]];
    const auto& got = answers[at];
    widest = std::max(widest, got.widest);
    REQUIRE(got.logprobs.size() > 0);
    if (order[at] % 3 == 0) {
      wanted.tokens.resize(std::min(wanted.tokens.size(), got.tokens.size()));
      wanted.logprobs.resize(got.logprobs.size());
    }
    CHECK_MESSAGE(got.same_bits(wanted), "row ", order[at]);
  }
  CHECK(widest >= 4);
}

TEST_CASE("in fast rows share a prefix anywhere, and each is computed from there on") {
  const auto engine = open_canned("canned-q8_0.gguf", evaluation::fast);
  const auto prompts = prompts_of(*engine, 4);
  auto leader = greedy_row(prompts[0], 4);
  leader.request.cuts = {575};
  const auto first = must_run_alone(*engine, std::move(leader));
  CHECK(first.fed == 581);
  std::vector<planned_row> rows;
  for (const auto& prompt : prompts) {
    auto row = greedy_row(prompt, 4);
    row.request.from = first.kept;
    row.request.restored = 575;
    rows.push_back(std::move(row));
  }
  const auto answers = must_run(*engine, std::move(rows), 4, 16);
  CHECK(answers[0].fed == 6);
  CHECK(answers[3].fed == 18);
  for (const auto& one : answers) CHECK(one.widest == 4);
}
