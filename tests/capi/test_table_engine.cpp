#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/c/engine.h>

#include "../../capi/table_engine.hpp"
#include "toy_engine.h"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

std::string to_text(evc_str given) { return {given.data, given.size}; }

std::vector<token> bytes(std::string_view text) {
  std::vector<token> tokens;
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

/// What the toy answers to a prompt, worked out from its rule alone.
std::string answer_of(std::string_view prompt, std::size_t most) {
  std::uint64_t hash = 0;
  for (const char c : prompt) hash = toy_hash(hash, static_cast<unsigned char>(c));
  std::string answer;
  while (answer.size() < most && toy_next(hash) != 0) {
    answer += static_cast<char>(toy_next(hash));
    hash = toy_hash(hash, static_cast<unsigned char>(answer.back()));
  }
  return answer;
}

struct started {
  explicit started(const evc_step_engine_table& table = toy_table()) {
    auto made = capi::start_table_engine(table, &toy);
    REQUIRE(made);
    engine = std::move(*made);
  }

  row_id open(std::string_view text, row_request how = {}) {
    how.prompt = bytes(text);
    auto row = engine->open(std::move(how));
    REQUIRE(row);
    return *row;
  }
  result<row_id> open_again(std::string_view text) {
    row_request how;
    how.prompt = bytes(text);
    return engine->open(std::move(how));
  }

  /// Steps until the row has `most` tokens or ended.
  std::string run(row_id row, std::size_t most) {
    std::string text;
    while (text.size() < most) {
      REQUIRE(engine->step(4, out));
      for (const auto& one : out.tokens) {
        if (one.row != row) continue;
        if (one.end) return text;
        text += one.text;
      }
    }
    CHECK(engine->remove(row));
    return text;
  }

  toy_engine toy{};
  std::unique_ptr<step_engine> engine;
  step_output out;
};

constexpr std::string_view prompt = "What is the answer to everything?";

}  // namespace

TEST_CASE("a table's traits are those of the engine") {
  started at;
  const auto& told = at.engine->about();
  CHECK(told.name == "toy");
  CHECK(told.model == "bytes");
  CHECK(told.identity == std::map<std::string, std::string>{{"version", "1"}});
  CHECK(told.max_rows == 4);
  CHECK(told.context_tokens == 4096);
  CHECK(told.prefix_grid == 1);  // Not told: the default.
  CHECK(told.snapshots);
  CHECK(told.scoring);
  CHECK_FALSE(told.per_row_sampling);
  CHECK_FALSE(told.media);
  CHECK_FALSE(told.recurrent);
}

TEST_CASE("a table's engine is started once and destroyed once") {
  toy_engine toy{};
  {
    auto made = capi::start_table_engine(toy_table(), &toy);
    REQUIRE(made);
    CHECK(toy.starts == 1);
    CHECK(toy.destroys == 0);
  }
  CHECK(toy.destroys == 1);
}

TEST_CASE("an engine that does not start is destroyed, and its words are told") {
  static int destroyed = 0;
  auto table = toy_table();
  table.start = [](void*) -> evc_status { return EVC_E_NOT_FOUND; };
  table.last_words = [](void*) -> evc_str { return {"no model here", 13}; };
  table.destroy = [](void*) { ++destroyed; };
  const auto made = capi::start_table_engine(table, nullptr);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::not_found);
  CHECK(made.error().backend_words == "no model here");
  CHECK(destroyed == 1);
}

TEST_CASE("a table that is too short or lacks a function is refused with its name") {
  auto table = toy_table();
  CHECK(capi::read_table(&table));
  table.struct_size += 64;  // A later version's.
  CHECK(capi::read_table(&table));
  table.struct_size = 16;
  CHECK(capi::read_table(&table).error().code == errc::invalid_argument);
  CHECK_FALSE(capi::read_table(nullptr));
  table = toy_table();
  table.tokenize = nullptr;
  CHECK(capi::read_table(&table).error().message.find("tokenize") != std::string::npos);
}

TEST_CASE("traits out of range are refused") {
  toy_engine toy{};
  auto table = toy_table();
  table.about = [](void*, evc_traits* told) -> evc_status {
    told->max_rows = 0;
    told->context_tokens = 512;
    return EVC_OK;
  };
  CHECK(capi::start_table_engine(table, &toy).error().code == errc::invalid_argument);
  table.about = [](void*, evc_traits*) -> evc_status { return EVC_OK; };
  CHECK(capi::start_table_engine(table, &toy).error().message.find("context_tokens 0") != std::string::npos);
  table = toy_table();
  table.free_snapshot = nullptr;
  CHECK(capi::start_table_engine(table, &toy).error().message.find("free_snapshot") != std::string::npos);
  CHECK(toy.destroys == 3);
}

TEST_CASE("a table that tells only its context has the defaults") {
  toy_engine toy{};
  auto table = toy_table();
  table.about = [](void*, evc_traits* told) -> evc_status {
    told->context_tokens = 512;
    return EVC_OK;
  };
  const auto made = capi::start_table_engine(table, &toy);
  REQUIRE(made);
  CHECK((*made)->about().name == "table");
  CHECK((*made)->about().max_rows == 1);
  CHECK_FALSE((*made)->about().snapshots);
  CHECK((*made)->take_snapshot(1).error().code == errc::unsupported);
}

TEST_CASE("rows answer side by side as each alone") {
  started at;
  const auto first = at.open(prompt);
  const auto second = at.open("Another prompt");
  const auto third = at.open("?");
  CHECK(first != second);
  std::string texts[3];
  for (int step = 0; step < 30; ++step) {
    REQUIRE(at.engine->step(2, at.out));
    for (const auto& one : at.out.tokens) {
      if (!one.end) texts[one.row - 1] += one.text;
      CHECK(one.batch_rows <= 2);
    }
  }
  CHECK(answer_of(prompt, 25).starts_with(texts[0]));
  CHECK(texts[1] == answer_of("Another prompt", texts[1].size()));
  CHECK(texts[2] == answer_of("?", texts[2].size()));
  CHECK(texts[0].size() + texts[1].size() + texts[2].size() > 10);
  CHECK(third == 3);
}

TEST_CASE("a prefill is told of chunk by chunk and pauses at its cuts") {
  started at;
  const auto row = at.open(prompt.substr(0, 20), {.cuts = {10}});
  std::vector<std::pair<std::uint32_t, bool>> seen;
  while (at.out.tokens.empty()) {
    REQUIRE(at.engine->step(4, at.out));
    for (const auto& one : at.out.prefill) seen.emplace_back(one.processed, one.at_cut);
  }
  CHECK(seen ==
        std::vector<std::pair<std::uint32_t, bool>>{{8, false}, {10, true}, {18, false}, {20, false}});
  CHECK(at.engine->remove(row));
}

TEST_CASE("a row from a snapshot computes only the rest and answers the same") {
  started at;
  const auto row = at.open(prompt, {.cuts = {16}});
  do {
    REQUIRE(at.engine->step(4, at.out));
  } while (!at.out.prefill.at(0).at_cut);
  CHECK(at.engine->snapshot_bytes(16) == 16'000);
  auto kept = at.engine->take_snapshot(row);
  REQUIRE(kept);
  CHECK((*kept)->bytes() == 16'000);
  CHECK(at.run(row, 12) == answer_of(prompt, 12));

  at.toy.fed = 0;
  CHECK(at.run(at.open(prompt, {.from = *kept, .restored = 16}), 12) == answer_of(prompt, 12));
  CHECK(at.toy.fed == prompt.size() - 16);
  CHECK(at.toy.snapshots == 1);
  *kept = nullptr;
  CHECK(at.toy.snapshots == 0);
}

TEST_CASE("tokens come with their probabilities if asked for") {
  started at;
  const auto row = at.open(prompt, {.logprobs = true, .top_logprobs = 2});
  do {
    REQUIRE(at.engine->step(4, at.out));
  } while (at.out.tokens.empty());
  const auto& first = at.out.tokens[0];
  CHECK(first.logprob == -0.25F);
  REQUIRE(first.top.size() == 2);
  CHECK(first.top[0].id == first.id);
  CHECK(first.top[1].id == 'z');
  CHECK(first.top[1].logprob == -2.0F);
  CHECK(at.engine->remove(row));
}

TEST_CASE("continuations are scored after the prompt, and the row is gone after the last") {
  started at;
  const std::string greedy = answer_of(prompt, 3);
  row_request how;
  how.continuations = {bytes(greedy), bytes("no")};
  (void)at.open(prompt, std::move(how));
  do {
    REQUIRE(at.engine->step(4, at.out));
  } while (at.out.scores.empty());
  REQUIRE(at.out.scores.size() == 2);
  CHECK(at.out.scores[0].sum_logprob == -0.5 * static_cast<double>(greedy.size()));
  CHECK(at.out.scores[0].is_greedy);
  CHECK_FALSE(at.out.scores[0].last);
  CHECK(at.out.scores[1].continuation == 1);
  CHECK(at.out.scores[1].sum_logprob == -1.0);
  CHECK_FALSE(at.out.scores[1].is_greedy);
  CHECK(at.out.scores[1].last);
}

TEST_CASE("a table renders turns from the body of a chat completion") {
  started at;
  chat::request request;
  request.messages = {{chat::role::user, "hello"}};
  const auto made = at.engine->render(request);
  REQUIRE(made);
  CHECK(made->text == R"({"messages":[{"role":"user","content":"hello"}],"stream":false})");
  CHECK(made->template_name == "as it is");
  CHECK(made->warning.empty());
  auto table = toy_table();
  table.render = nullptr;
  started without(table);
  CHECK(without.engine->render(request).error().code == errc::unsupported);
}

TEST_CASE("a table tokenizes") {
  started at;
  const auto tokens = at.engine->tokenize("aé", true);
  REQUIRE(tokens);
  CHECK(*tokens == std::vector<token>{'a', 0xC3, 0xA9});
}

TEST_CASE("a full engine is busy, and a failing one a backend fault in its own words") {
  started at;
  for (int i = 0; i < 4; ++i) (void)at.open("x");
  const auto refused = at.open_again("x");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::busy);
  CHECK(refused.error().backend_words == "all rows are taken");
  at.toy.failing = 1;
  const auto failed = at.engine->step(4, at.out);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::backend_fault);
  CHECK(failed.error().message == "the engine toy could not step: backend_fault");
  CHECK(failed.error().backend_words == "the toy is broken");
}

TEST_CASE("an engine that tells of a row that is not open broke its contract") {
  started at;
  (void)at.open("x");
  at.toy.lying = 1;
  const auto failed = at.engine->step(4, at.out);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::backend_fault);
  CHECK(failed.error().message.find("row 999") != std::string::npos);
}

TEST_CASE("unknown memory stays unknown") {
  started at;
  const auto told = at.engine->memory();
  CHECK(told.working_set == 8'000'000'000ULL);
  CHECK(told.active == 1'000'000'000ULL);
  CHECK_FALSE(told.free_ram);
  auto table = toy_table();
  table.memory = nullptr;
  table.snapshot_bytes = nullptr;
  started without(table);
  CHECK_FALSE(without.engine->memory().working_set);
  CHECK_FALSE(without.engine->snapshot_bytes(16));
}

TEST_CASE("an interruption reaches a runtime that hears it, and no other") {
  static int heard = 0;
  started deaf;
  deaf.engine->interrupt();
  CHECK(heard == 0);
  auto table = toy_table();
  table.interrupt = [](void*) { ++heard; };
  table.step = [](void*, std::uint32_t, evc_step* out) -> evc_status {
    evc_step_interrupted(out);
    return EVC_OK;
  };
  started at(table);
  at.engine->interrupt();
  CHECK(heard == 1);
  REQUIRE(at.engine->step(1, at.out));
  CHECK(at.out.interrupted);
}

TEST_CASE("a row gets what was asked of it") {
  static evc_row seen;
  static std::vector<evc_bias> bias;
  static std::string images;
  auto table = toy_table();
  table.open = [](void*, const evc_row* row, std::uint64_t* id) -> evc_status {
    seen = *row;
    bias.assign(row->bias, row->bias + row->bias_size);
    for (std::size_t i = 0; i < row->images_size; ++i) images += to_text(row->images[i].bytes);
    *id = 1;
    return EVC_OK;
  };
  started at(table);
  row_request asked;
  asked.max_tokens = 9;
  asked.how = {.temperature = 0.5,
               .top_p = 0.9,
               .top_k = 40,
               .min_p = 0.05,
               .seed = 11,
               .repetition_penalty = 1.1,
               .presence_penalty = 0.2,
               .frequency_penalty = 0.3,
               .logit_bias = {{7, -1.5}}};
  asked.media = {{0, "cat"}, {1, "dog"}};
  CHECK(at.open("x", std::move(asked)) == 1);
  CHECK(seen.struct_size == sizeof(evc_row));
  CHECK(seen.max_tokens == 9);
  CHECK(seen.prompt.size == 1);
  CHECK(seen.from == nullptr);
  CHECK(seen.temperature == 0.5);
  CHECK(seen.top_p == 0.9);
  CHECK(seen.top_k == 40);
  CHECK(seen.min_p == 0.05);
  CHECK(seen.has_seed == 1);
  CHECK(seen.seed == 11);
  CHECK(seen.repetition_penalty == 1.1);
  CHECK(seen.presence_penalty == 0.2);
  CHECK(seen.frequency_penalty == 0.3);
  REQUIRE(bias.size() == 1);
  CHECK(bias[0].token == 7);
  CHECK(bias[0].bias == -1.5);
  CHECK(images == "catdog");
  CHECK(at.open_again("y").error().code == errc::backend_fault);  // The id is taken.
}

TEST_CASE("a request that is overwritten and freed after its submission is run as it was") {
  toy_engine toy{};
  const auto table = toy_table();
  auto* options = evc_engine_options_new();
  REQUIRE(evc_engine_options_set_batch_wait_ms(options, 100) == EVC_OK);  // It runs after what follows.
  evc_engine* engine = nullptr;
  REQUIRE(evc_engine_new_table(&table, &toy, options, &engine, nullptr) == EVC_OK);
  evc_engine_options_free(options);

  std::string asked = "What is asked";
  REQUIRE(answer_of(asked, 12) == "sybalkhrtqhp");
  std::string stop = "tq";
  auto* request = evc_engine_request_new();
  REQUIRE(evc_engine_request_set_prompt(request, {asked.data(), asked.size()}, 1) == EVC_OK);
  REQUIRE(evc_engine_request_add_stop(request, {stop.data(), stop.size()}) == EVC_OK);
  REQUIRE(evc_engine_submit(engine, request, 0, nullptr, nullptr) == EVC_OK);
  asked.assign(asked.size(), '?');
  stop = "sy";
  CHECK(evc_engine_request_set_max_tokens(request, 1) == EVC_OK);
  evc_engine_request_free(request);

  std::string text;
  std::int32_t kind = 0;
  while (kind != EVC_ENGINE_EVENT_END) {
    evc_engine_event* event = nullptr;
    REQUIRE(evc_engine_poll(engine, 60'000, &event) == EVC_OK);
    kind = evc_engine_event_kind(event);
    text += to_text(evc_engine_event_text(event));
    CHECK(evc_engine_event_error(event) == nullptr);
    evc_engine_event_free(event);
  }
  CHECK(text == "sybalkhr");
  evc_engine_free(engine);
}

TEST_CASE("every status of the C ABI has the name of its class") {
  CHECK(std::string(evc_status_name(EVC_OK)) == "ok");
  CHECK(std::string(evc_status_name(EVC_E_CONTEXT_OVERFLOW)) == "context_overflow");
  CHECK(std::string(evc_status_name(-1234)) == "unknown");
  CHECK(evc_error_status(nullptr) == EVC_OK);
  CHECK(to_text(evc_error_message(nullptr)).empty());
}
