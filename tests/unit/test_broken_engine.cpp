// Engines that do not keep to their contract, or whose model does not compute.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "unit/scheduler_rig.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Each step says what `says` writes, about a row of number 1. To remove it either throws or is refused.
class broken_engine : public engine::step_engine {
 public:
  broken_engine(std::function<void(engine::step_output&)> says, bool keeps_rows)
      : says_(std::move(says)), keeps_rows_(keeps_rows) {}

  [[nodiscard]] const engine::traits& about() const override { return traits_; }
  [[nodiscard]] result<engine::rendered> render(const chat::request& /*request*/) override {
    return engine::rendered{};
  }
  [[nodiscard]] result<std::vector<engine::token>> tokenize(std::string_view /*text*/,
                                                            bool /*special*/) override {
    return std::vector<engine::token>{1};
  }
  [[nodiscard]] result<engine::row_id> open(engine::row_request /*asked*/) override { return 1; }
  [[nodiscard]] result<void> step(std::uint32_t /*width*/, engine::step_output& out) override {
    out.clear();
    says_(out);
    return {};
  }
  [[nodiscard]] bool remove(engine::row_id /*row*/) override {
    if (!keeps_rows_) throw std::runtime_error("never");
    return false;
  }
  void interrupt() noexcept override {}
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t /*tokens*/) const override {
    return {};
  }
  [[nodiscard]] result<std::shared_ptr<const engine::snapshot>> take_snapshot(
      engine::row_id /*row*/) override {
    return fail(errc::unsupported, stage::body, "none");
  }
  [[nodiscard]] engine::memory_report memory() const override { return {}; }

 private:
  engine::traits traits_{.name = "broken", .scoring = true};
  std::function<void(engine::step_output&)> says_;
  bool keeps_rows_;
};

/// What becomes of one request there, until the machine has nothing more to do.
reader on_broken_engine(engine::request what, std::function<void(engine::step_output&)> says,
                        bool keeps_rows = false) {
  broken_engine model(std::move(says), keeps_rows);
  engine::scheduler machine({.batch_wait_ms = 0}, model.about(), nullptr);
  const instant now;
  auto given = machine.submit(std::move(what), false, now);
  REQUIRE(given);
  engine::step_output out;
  no_lock none;
  for (int turns = 0; turns < 20; ++turns) {
    auto to_do = machine.next(now);
    engine::perform(to_do, model, out, machine, none, [&] { return now; });
  }
  CHECK(machine.stats().active == 0);
  return {.id = given->id, .out = given->out};
}

}  // namespace

TEST_CASE("an engine that has rows and does nothing is found out") {
  for (const bool keeps_rows : {false, true}) {
    auto asked = on_broken_engine(asking("a"), [](engine::step_output& /*out*/) {}, keeps_rows);
    CHECK(asked.refusal() == "backend_error");
    CHECK(asked.end->error().http_status == 500);
  }
}

TEST_CASE("a continuation that the engine did not score is a failure and no score") {
  auto what = asking("a");
  what.continuations = {{1}, {2}};
  auto asked = on_broken_engine(what, [](engine::step_output& out) {
    out.scores.push_back({.row = 1, .continuation = 1, .sum_logprob = -1, .last = true});
  });
  CHECK(asked.refusal() == "backend_error");
  CHECK(asked.end->error().message == "broken did not score all continuations");
}

TEST_CASE("words about rows that are not there harm nobody") {
  auto asked = on_broken_engine(asking("a", 2), [](engine::step_output& out) {
    out.prefill.push_back({.row = 77, .processed = 1, .at_cut = true});
    out.prefill.push_back({.row = 1, .processed = 1, .at_cut = true});
    out.tokens.push_back({.row = 77, .id = 'x', .text = "x"});
    out.tokens.push_back({.row = 1, .id = 'y', .text = "y"});
    out.scores.push_back({.row = 77, .continuation = 5, .last = true});
  });
  CHECK(asked.answer().generation_tokens == 2);
  CHECK(asked.text == "yy");
}

TEST_CASE("a log probability that is no number is an error of its row, and no answer") {
  for (const float bad : {not_a_number, infinity, -infinity}) {
    const auto asked = on_broken_engine(asking("a", 2), [&](engine::step_output& out) {
      out.tokens.push_back({.row = 1, .id = 'x', .text = "x", .logprob = bad});
    });
    auto from = asked;
    CHECK(from.refusal() == "backend_error");
    CHECK(from.end->error().message ==
          "broken told a log probability that is no number: its model may be damaged");
    CHECK(from.tokens.empty());
  }
  auto likely = on_broken_engine(asking("a", 2), [](engine::step_output& out) {
    out.tokens.push_back(
        {.row = 1, .id = 'x', .text = "x", .logprob = -1.0F, .top = {{'x', -1.0F}, {'y', not_a_number}}});
  });
  CHECK(likely.refusal() == "backend_error");
  // What is ruled out has a probability: none.
  auto ruled_out = on_broken_engine(asking("a", 1), [](engine::step_output& out) {
    out.tokens.push_back(
        {.row = 1, .id = 'x', .text = "x", .logprob = -1.0F, .top = {{'x', -1.0F}, {'y', -infinity}}});
  });
  CHECK(ruled_out.answer().generation_tokens == 1);
}

TEST_CASE("a continuation whose sum is no finite number is an error") {
  auto what = asking("a");
  what.continuations = {{1}};
  const auto scoring = [&](double sum) {
    return on_broken_engine(what, [sum](engine::step_output& out) {
      out.scores.push_back({.row = 1, .continuation = 0, .sum_logprob = sum, .last = true});
    });
  };
  for (const double sum : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()})
    CHECK(scoring(sum).refusal() == "backend_error");
  CHECK(scoring(-1).answer().scores.size() == 1);
}

TEST_CASE("a row that fails alone ends its request with its own error, and its neighbour goes on") {
  engine::virtual_clock clock;
  struct failing final : broken_engine {
    using broken_engine::broken_engine;
    [[nodiscard]] result<engine::row_id> open(engine::row_request /*asked*/) override { return ++rows; }
    engine::row_id rows = 0;
  };
  int step = 0;
  failing model(
      [&](engine::step_output& out) {
        ++step;
        if (step == 1) {
          out.failures.push_back({.row = 1, .why = fail(errc::backend_fault, stage::body, "not a number")});
          out.failures.push_back({.row = 77, .why = fail(errc::backend_fault, stage::body, "of nobody")});
        }
        out.tokens.push_back({.row = 2, .id = 'y', .text = "y"});
      },
      false);
  engine::scheduler machine({.batch_wait_ms = 0}, model.about(), nullptr);
  auto first = machine.submit(asking("a", 2), false, clock.now);
  auto second = machine.submit(asking("b", 2), false, clock.now);
  engine::step_output out;
  no_lock none;
  for (int turns = 0; turns < 20; ++turns) {
    auto to_do = machine.next(clock.now);
    engine::perform(to_do, model, out, machine, none, [&] { return clock.now; });
  }
  reader bad{.id = first->id, .out = first->out};
  reader good{.id = second->id, .out = second->out};
  CHECK(bad.read().end->error().message == "not a number");
  CHECK(bad.end->error().code == errc::backend_fault);
  CHECK(good.answer().generation_tokens == 2);
  CHECK(good.text == "yy");
  CHECK(machine.stats().active == 0);
  CHECK(machine.stats().failed == 1);
}
