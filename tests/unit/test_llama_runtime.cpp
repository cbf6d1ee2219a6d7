// The runtime's thread on a real engine.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/engine/runtime.hpp>

#include "unit/counted_prefill.hpp"
#include "unit/llama_model.hpp"

using namespace evalcore;
using namespace evalcore::engine;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<step_engine> canned(evaluation mode, std::uint32_t rows) {
  return must_open({.model_path = canned_model("canned-q8_0.gguf"),
                    .mode = mode,
                    .max_rows = rows,
                    .context_tokens = 1024});
}

std::unique_ptr<runtime> must_start(const std::function<std::unique_ptr<step_engine>()>& load,
                                    options how = {}) {
  how.batch_wait_ms = 0;
  auto started = runtime::start(
      [&]() -> result<loaded_engine> { return loaded_engine{.engine = load(), .safe_width = 16}; }, how);
  REQUIRE(started);
  return *std::move(started);
}

std::string text_of(stream& from) {
  std::string text;
  stream::reading got;
  while (from.read(got, 60s)) {
    for (const auto& one : got.records) {
      if (const auto* piece = std::get_if<engine::piece>(&one)) text += piece->text;
    }
    if (!got.end) continue;
    return *got.end ? text + (*got.end)->tail : got.end->error().message;
  }
  return "nothing came";
}

}  // namespace

TEST_CASE("a cancellation just before a step of the prefill computes nothing more") {
  const auto seen = std::make_shared<prefill_count>();
  std::unique_ptr<stream> from;
  std::mutex submitted;
  std::uint32_t before = 0;
  seen->before_step = [&](std::uint32_t step) {
    if (step != 3) return;
    const std::lock_guard held(submitted);
    before = seen->processed;
    from->cancel();
  };
  const auto running =
      must_start([&] { return std::make_unique<counted_prefill>(canned(evaluation::parity, 1), seen); });
  std::vector<token> prompt;
  REQUIRE(running->control([&](step_engine& model) -> result<void> {
    prompt = some_prompt(model, 1'000, 1);
    return {};
  }));
  {
    const std::lock_guard held(submitted);
    request asked;
    asked.prompt = prompt;
    asked.max_tokens = 1;
    auto given = running->submit(std::move(asked));
    REQUIRE(given);
    from = *std::move(given);
  }
  CHECK(text_of(*from) == "cancelled while it ran");
  REQUIRE(running->control([](step_engine& /*model*/) -> result<void> { return {}; }));
  CHECK(before == 512);
  CHECK(seen->processed == 512);
  CHECK(seen->interrupted);
  CHECK(running->stats().active == 0);
}

TEST_CASE(
    "threads that ask, cancel and drop amid each other's prompts get the answers that each gets alone") {
  for (const auto mode : {evaluation::parity, evaluation::fast}) {
    const auto running =
        must_start([&] { return canned(mode, 4); }, {.max_batch_size = 4, .max_queue_size = 100});
    const auto asking = [](std::size_t number) {
      request asked;
      chat::request turns;
      turns.messages.emplace_back().text = number % 2 == 0 ? "hi" : "bye";
      asked.prompt = std::move(turns);
      asked.max_tokens = 32;
      if (number % 3 == 0) asked.share = prefix_sharing{.key = "k", .cuts = std::vector<std::uint32_t>{4}};
      return asked;
    };
    std::vector<std::string> alone(2);
    for (std::size_t number = 0; number < 2; ++number)
      alone[number] = text_of(**running->submit(asking(number)));
    CHECK(alone[0] == "Hello!");
    std::vector<std::string> answers(24);
    {
      std::vector<std::jthread> hosts;
      for (std::size_t host = 0; host < 3; ++host) {
        hosts.emplace_back([&, host] {
          for (std::size_t at = host; at < answers.size(); at += 3) {
            auto one = running->submit(asking(at));
            auto other = running->submit(asking(at + 1));
            if (!one || !other) continue;
            if (at % 2 == 0) (*other)->cancel();
            *other = nullptr;
            answers[at] = text_of(**one);
          }
        });
      }
    }
    for (std::size_t at = 0; at < answers.size(); ++at) CHECK(answers[at] == alone[at % 2]);
    CHECK(running->close());
  }
}
