// Log likelihoods of continuations, compared with what llama-cpp-python computes on the same weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <string>

#include <evalcore/base/json.hpp>

#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

json::value numbers() {
  std::ifstream file(EVALCORE_TEST_DATA "/engine/llama_numbers.json");
  auto read = json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  REQUIRE(read);
  return *std::move(read);
}

double number(const json::value& value) {
  double storage = 0;
  const double* found = value.as_double(storage);
  REQUIRE(found != nullptr);
  return *found;
}

std::vector<token> tokens_in(const json::value& object) {
  std::vector<token> tokens;
  for (const auto& one : *object.find("tokens")->if_array())
    tokens.push_back(static_cast<token>(*one.if_int()));
  return tokens;
}

std::vector<scored> scores_of(step_engine& engine, row_request request) {
  planned_row row;
  row.request = std::move(request);
  return must_run_alone(engine, std::move(row)).scores;
}

/// Of each token: kernels round differently on other processors, and in other chunks. A probability taken for
/// that of another token would be off by much more.
double tolerance_of(evaluation mode) { return mode == evaluation::parity ? 0.001 : 0.01; }

}  // namespace

TEST_CASE("scores and greedy answers are those of another evaluation of the same weights") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    const auto engine = must_open(
        {.model_path = canned_model("canned.gguf"), .mode = mode, .max_rows = 2, .context_tokens = 1024});
    const auto known = numbers();
    const double tolerance = tolerance_of(mode);
    for (const auto& one : *known.find("cases")->if_array()) {
      CAPTURE(*one.find("name")->if_string());
      const auto context = tokens_in(one);
      CHECK(must_tokenize(*engine, *one.find("text")->if_string()) == context);

      row_request request;
      request.prompt = context;
      const auto& continuations = *one.find("continuations")->if_array();
      for (const auto& continuation : continuations) request.continuations.push_back(tokens_in(continuation));
      const auto scores = scores_of(*engine, std::move(request));
      REQUIRE(scores.size() == continuations.size());
      for (std::size_t at = 0; at < scores.size(); ++at) {
        CHECK(scores[at].continuation == at);
        CHECK(std::abs(scores[at].sum_logprob - number(*continuations[at].find("sum_logprob"))) <
              tolerance * static_cast<double>(tokens_in(continuations[at]).size()));
        CHECK(scores[at].is_greedy == *continuations[at].find("is_greedy")->if_bool());
        CHECK(scores[at].last == (at + 1 == scores.size()));
      }

      const auto& wanted = *one.find("answer");
      const auto tokens = tokens_in(wanted);
      const auto answer =
          must_run_alone(*engine, greedy_row(context, static_cast<std::uint32_t>(tokens.size())));
      CHECK(answer.tokens == tokens);
      const auto& logprobs = *wanted.find("logprobs")->if_array();
      REQUIRE(answer.logprobs.size() == logprobs.size());
      for (std::size_t at = 0; at < logprobs.size(); ++at)
        CHECK(std::abs(static_cast<double>(answer.logprobs[at]) - number(logprobs[at])) < tolerance);
    }
  }
}

TEST_CASE("in parity attention adds nothing up in half precision") {
  const auto engine =
      must_open({.model_path = canned_model("canned.gguf"), .max_rows = 1, .context_tokens = 1024});
  const auto known = numbers();
  double off = 0;
  for (const auto& one : *known.find("cases")->if_array()) {
    row_request request;
    request.prompt = tokens_in(one);
    const auto& continuations = *one.find("continuations")->if_array();
    for (const auto& continuation : continuations) request.continuations.push_back(tokens_in(continuation));
    const auto scores = scores_of(*engine, std::move(request));
    REQUIRE(scores.size() == continuations.size());
    for (std::size_t at = 0; at < scores.size(); ++at) {
      const auto& continuation = continuations[at];
      const double wanted = number(*continuation.find("single_precision_sum"));
      const auto tokens = static_cast<double>(tokens_in(continuation).size());
      off = std::max(off, std::abs(scores[at].sum_logprob - wanted) / tokens);
    }
  }
  // What is left comes from keys and values, which are kept in half precision.
  CHECK(off < 0.002);
}

TEST_CASE("in parity a continuation has the same bits alone, as one of many, and behind a restored context") {
  for (const char* file : {"canned.gguf", "canned-q8_0.gguf"}) {
    const auto engine = must_open({.model_path = canned_model(file), .max_rows = 2, .context_tokens = 1024});
    row_request all;
    all.prompt = some_prompt(*engine, 620, 3);
    for (const std::size_t length : {1U, 2U, 63U, 64U, 65U, 200U})
      all.continuations.push_back(some_prompt(*engine, length, static_cast<unsigned>(length)));
    const auto together = scores_of(*engine, all);
    REQUIRE(together.size() == 6);

    auto keeps = greedy_row(all.prompt, 1);
    keeps.request.cuts = {576};
    const auto kept = must_run_alone(*engine, std::move(keeps)).kept;
    for (std::size_t at = 0; at < all.continuations.size(); ++at) {
      row_request one;
      one.prompt = all.prompt;
      one.continuations = {all.continuations[at]};
      if (at % 2 == 1) {
        one.from = kept;
        one.restored = 576;
      }
      const auto alone = scores_of(*engine, std::move(one));
      REQUIRE(alone.size() == 1);
      CHECK(std::bit_cast<std::uint64_t>(alone[0].sum_logprob) ==
            std::bit_cast<std::uint64_t>(together[at].sum_logprob));
      CHECK(alone[0].is_greedy == together[at].is_greedy);
    }
  }
}

TEST_CASE("rows that score and rows that answer run side by side without changing each other") {
  const auto engine =
      must_open({.model_path = canned_model("canned-q8_0.gguf"), .max_rows = 3, .context_tokens = 1024});
  planned_row scoring;
  scoring.request.prompt = some_prompt(*engine, 300, 1);
  scoring.request.continuations = {some_prompt(*engine, 90, 2), some_prompt(*engine, 3, 3)};
  const auto answering = greedy_row(some_prompt(*engine, 130, 4), 10);
  const auto alone_scores = must_run_alone(*engine, scoring).scores;
  const auto alone_answer = must_run_alone(*engine, answering);
  const auto both = must_run(*engine, {answering, scoring, answering}, 3, 16);
  REQUIRE(both[1].scores.size() == 2);
  for (std::size_t at = 0; at < 2; ++at)
    CHECK(std::bit_cast<std::uint64_t>(both[1].scores[at].sum_logprob) ==
          std::bit_cast<std::uint64_t>(alone_scores[at].sum_logprob));
  CHECK(both[0].same_bits(alone_answer));
  CHECK(both[2].same_bits(alone_answer));
}
