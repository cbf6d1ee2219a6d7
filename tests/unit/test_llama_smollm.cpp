// A real model of 135 million parameters.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <evalcore/engine/parity.hpp>
#include <evalcore/engine/runtime.hpp>

#include "unit/counted_prefill.hpp"
#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

std::unique_ptr<step_engine> open_smollm(std::uint32_t rows) {
  return must_open({.model_path = EVALCORE_MODEL, .max_rows = rows, .context_tokens = 2304});
}

}  // namespace

TEST_CASE("the check of parity finds a real quantised model safe at the width of all its rows") {
  const auto engine = open_smollm(4);
  auto checked = check_parity(*engine);
  REQUIRE(checked);
  CHECK(checked->width == 4);
  CHECK(checked->restores);
  CHECK_MESSAGE(checked->why.empty(), checked->why);
}

TEST_CASE("a prompt of 2,000 tokens is left within half a second, and the row goes on from where it stood") {
  using clock = std::chrono::steady_clock;
  const auto engine = open_smollm(1);
  const auto id = engine->open(greedy_row(some_prompt(*engine, 2'000, 1), 1).request);
  REQUIRE(id);
  clock::time_point asked;
  std::thread caller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    asked = clock::now();
    engine->interrupt();
  });
  step_output out;
  const auto stepped = engine->step(1, out);
  const auto left = clock::now();
  caller.join();
  REQUIRE(stepped);
  CHECK(out.interrupted);
  CHECK(left - asked < std::chrono::milliseconds(500));
  const auto processed = out.prefill.empty() ? 0 : out.prefill[0].processed;
  CHECK(processed % 64 == 0);
  CHECK(processed < 256);
  CHECK(engine->remove(*id));
}

TEST_CASE("a request that is cancelled amid a prompt of 2,000 tokens frees the engine within half a second") {
  using clock = std::chrono::steady_clock;
  const auto seen = std::make_shared<prefill_count>();
  std::vector<token> prompt;
  auto started = runtime::start(
      [&]() -> result<loaded_engine> {
        auto model = open_smollm(1);
        prompt = some_prompt(*model, 2'000, 1);
        return loaded_engine{.engine = std::make_unique<counted_prefill>(std::move(model), seen),
                             .safe_width = 1};
      },
      {.max_batch_size = 1, .batch_wait_ms = 0});
  REQUIRE(started);
  request asked;
  asked.prompt = prompt;
  asked.max_tokens = 1;
  asked.watch_prefill = true;
  auto from = (*started)->submit(std::move(asked));
  REQUIRE(from);
  stream::reading got;
  REQUIRE((*from)->read(got, std::chrono::seconds(60)));
  const auto before = std::get<prefill_seen>(got.records.back()).processed;
  const auto cancelled = clock::now();
  (*from)->cancel();
  REQUIRE((*from)->read(got));
  CHECK(got.end->error().code == errc::cancelled);
  // In its turn: when the row is gone.
  REQUIRE((*started)->control([](step_engine& /*model*/) -> result<void> { return {}; }));
  CHECK(clock::now() - cancelled < std::chrono::milliseconds(500));
  CHECK(before >= 256);
  CHECK(seen->processed < 1'500);
  CHECK((*started)->stats().active == 0);
}

TEST_CASE("text becomes the tokens of the model's own vocabulary") {
  const auto engine = open_smollm(1);
  CHECK(must_tokenize(*engine, "<|im_start|>user\nhi", true) == std::vector<token>{1, 4093, 198, 6004});
  CHECK_FALSE(must_tokenize(*engine, "\xff\xc3\xed\xa0\x80").empty());
}

TEST_CASE("a question is answered in the model's own words, and its end is told") {
  const auto engine = open_smollm(1);
  chat::request request;
  request.messages.emplace_back().text = "What is the capital of France? Answer with one word.";
  request.messages[0].who = chat::role::user;
  auto prompt = engine->render(request);
  REQUIRE(prompt);
  CHECK(prompt->template_name == "chatml");
  auto row = greedy_row(must_tokenize(*engine, prompt->text, true), 24).request;
  REQUIRE(engine->open(row));
  std::string text;
  step_output out;
  for (bool end = false; !end && text.size() < 200;) {
    REQUIRE(engine->step(1, out));
    for (const auto& one : out.tokens) {
      text += one.text;
      end = one.end;
    }
  }
  CHECK_MESSAGE(text.find("Paris") != std::string::npos, text);
}
