// What evalcore promises to the owner of a table.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/c/engine.h>

#include "toy_engine.h"
#include "unit/failing_new.hpp"

namespace {

using evalcore::test::failing_new;

std::string to_text(evc_str given) { return {given.data, given.size}; }

std::uint64_t must_submit(evc_engine* engine, std::string_view prompt, std::uint32_t max_tokens) {
  evc_engine_request* request = evc_engine_request_new();
  (void)evc_engine_request_set_prompt(request, {prompt.data(), prompt.size()}, 1);
  (void)evc_engine_request_set_max_tokens(request, max_tokens);
  std::uint64_t ticket = 0;
  REQUIRE(evc_engine_submit(engine, request, 0, &ticket, nullptr) == EVC_OK);
  evc_engine_request_free(request);
  return ticket;
}

/// The END's JSON of so many requests.
std::vector<std::string> ends(evc_engine* engine, std::size_t count) {
  std::vector<std::string> all;
  while (all.size() < count) {
    evc_engine_event* event = nullptr;
    REQUIRE(evc_engine_poll(engine, 60'000, &event) == EVC_OK);
    if (evc_engine_event_kind(event) == EVC_ENGINE_EVENT_END)
      all.push_back(to_text(evc_engine_event_json(event)));
    evc_engine_event_free(event);
  }
  return all;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// How four requests that come together are run.
std::vector<std::string> run_four(toy_engine& toy, const evc_step_engine_table& table) {
  evc_engine_options* options = evc_engine_options_new();
  (void)evc_engine_options_set_batch_wait_ms(options, 1'000);
  evc_engine* engine = nullptr;
  REQUIRE(evc_engine_new_table(&table, &toy, options, &engine, nullptr) == EVC_OK);
  evc_engine_options_free(options);
  for (const char* prompt : {"one", "two", "three", "four"}) must_submit(engine, prompt, 3);
  auto all = ends(engine, 4);
  evc_engine_free(engine);
  CHECK(toy.destroys == 1);
  return all;
}

}  // namespace

TEST_CASE("through the table, a toy that differs by width is run row by row, and each answer says so") {
  toy_engine toy{};
  toy.wrong_from_width = 2;
  for (const auto& end : run_four(toy, toy_table())) {
    CHECK(has(end, R"("peak_batch_size":1,)"));
    CHECK(has(end,
              R"("note":"rows are computed one by one, so that an answer does not depend on the others: )"));
  }
}

TEST_CASE("through the table, a toy that is the same in any company shares batches, and nothing is said") {
  toy_engine toy{};
  for (const auto& end : run_four(toy, toy_table())) {
    CHECK(has(end, R"("peak_batch_size":4,)"));
    CHECK_FALSE(has(end, R"("note")"));
  }
  CHECK(toy.fed > 585);  // It was compared.
}

TEST_CASE("through the table, a toy that says that it is exact is not compared") {
  toy_engine toy{};
  toy.wrong_from_width = 2;
  auto table = toy_table();
  static evc_status (*about)(void*, evc_traits*) = table.about;
  table.about = [](void* context, evc_traits* traits) -> evc_status {
    const evc_status status = about(context, traits);
    traits->can |= EVC_IS_EXACT;
    return status;
  };
  for (const auto& end : run_four(toy, table)) CHECK(has(end, R"("peak_batch_size":4,)"));
  CHECK(toy.fed == 15);  // The four prompts.
}

TEST_CASE("a table's interrupt is called without a lock: it may use the engine") {
  static std::atomic<evc_engine*> engine{nullptr};
  static std::atomic<int> heard{0};
  toy_engine toy{};
  auto table = toy_table();
  table.interrupt = [](void*) {
    if (engine != nullptr) evc_engine_cancel(engine, 12'345);
    ++heard;
  };
  evc_engine* made = nullptr;
  REQUIRE(evc_engine_new_table(&table, &toy, nullptr, &made, nullptr) == EVC_OK);
  engine = made;
  const auto ticket = must_submit(made, std::string(4'000, 'p'), 10);  // 500 steps of a prompt.
  while (heard == 0) {
    evc_engine_cancel(made, ticket);
    if (!ends(made, 1).front().empty()) break;
    must_submit(made, "next", 1);
  }
  engine = nullptr;
  evc_engine_free(made);
  CHECK(heard >= 1);
}

TEST_CASE("whatever has no memory, a table's engine that does not start is destroyed, once") {
  static const auto start = toy_table().start;
  auto table = toy_table();
  table.start = [](void* context) -> evc_status {
    failing_new::watched = true;  // The engine's own thread, too.
    return start(context);
  };
  long number = 1;
  for (; number < 10'000; ++number) {
    toy_engine toy{};
    evc_engine* engine = nullptr;
    failing_new::arm(number, 1);
    failing_new::watched = true;
    const evc_status status = evc_engine_new_table(&table, &toy, nullptr, &engine, nullptr);
    failing_new::watched = false;
    if (!failing_new::disarm()) {
      REQUIRE(status == EVC_OK);
      evc_engine_free(engine);
      break;
    }
    REQUIRE(status == EVC_E_NO_MEMORY);
    REQUIRE(engine == nullptr);
    REQUIRE(toy.destroys == 1);
    REQUIRE(toy.snapshots == 0);
  }
  CHECK(number > 100);
}

TEST_CASE("options that are refused leave the context to its owner") {
  toy_engine toy{};
  auto table = toy_table();
  table.step = nullptr;
  evc_engine* engine = nullptr;
  CHECK(evc_engine_new_table(&table, &toy, nullptr, &engine, nullptr) == EVC_E_INVALID_ARGUMENT);
  CHECK(toy.destroys == 0);
  CHECK(toy.starts == 0);
}
