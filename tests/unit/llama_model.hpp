#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/engine/llama.hpp>

#include "engine/lockstep.hpp"

namespace evalcore::engine {

inline std::string canned_model(const std::string& file) {
  return EVALCORE_TEST_DATA "/models/canned/" + file;
}

inline std::unique_ptr<step_engine> must_open(const llama_options& options) {
  auto opened = open_llama(options);
  REQUIRE_MESSAGE(opened, opened.error().message);
  return *std::move(opened);
}

inline std::vector<token> must_tokenize(step_engine& engine, std::string_view text, bool special = false) {
  auto tokens = engine.tokenize(text, special);
  REQUIRE(tokens);
  return *std::move(tokens);
}

/// A prompt of so many tokens, that differs with `seed` from its beginning on.
inline std::vector<token> some_prompt(step_engine& engine, std::size_t length, unsigned seed) {
  const auto words =
      must_tokenize(engine, "Both clocks strike at noon; neither knows why it is 1893 again. ");
  std::vector<token> prompt;
  for (std::size_t at = 0; at < length; ++at)
    prompt.push_back(words[(at * (seed % 7 + 1) + seed) % words.size()]);
  return prompt;
}

inline row_answer must_run_alone(step_engine& engine, planned_row row) {
  std::vector<planned_row> one;
  one.push_back(std::move(row));
  auto answers = run_rows(engine, std::move(one), 1, 1);
  REQUIRE_MESSAGE(answers, answers.error().message);
  return std::move(answers->front());
}

inline std::vector<row_answer> must_run(step_engine& engine, std::vector<planned_row> rows,
                                        std::size_t together, std::uint32_t width) {
  auto answers = run_rows(engine, std::move(rows), together, width);
  REQUIRE_MESSAGE(answers, answers.error().message);
  return *std::move(answers);
}

}  // namespace evalcore::engine
