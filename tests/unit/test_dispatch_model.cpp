#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>

#include "unit/prompts.hpp"

using namespace evalcore;
using test::prompt;

namespace {

/// A server with a cache for each slot, written from its description: a slot holds the prompt and the
/// generated tokens of its last request, reuses the longest common prefix, and computes at least one token.
class slot_server {
 public:
  explicit slot_server(std::size_t slots) : held_(slots) {}

  std::uint64_t serve(std::uint32_t slot, const prefix::sequence& request) {
    std::size_t common = 0;
    while (common < request.size() && common < held_[slot].size() && request[common] == held_[slot][common]) {
      ++common;
    }
    held_[slot] = request;
    for (int generated = 0; generated < 4; ++generated) held_[slot].push_back(-1);
    return std::min(common, request.size() - 1);
  }
  void copy(std::uint32_t from, std::uint32_t to) { held_[to] = held_[from]; }

 private:
  std::vector<prefix::sequence> held_;
};

struct outcome {
  std::vector<int> sent;
  std::uint64_t cached = 0;
};

/// Runs a suite with random ends and failures against the server, checking each prediction that is made.
outcome run(const std::vector<prefix::sequence>& suite, prefix::cache_model cache, int failures_in_100,
            std::mt19937& random) {
  struct flight {
    std::uint32_t item;
    std::uint32_t slot;
  };
  prefix::dispatcher machine(prefix::make_plan(suite, true, {}), cache);
  slot_server server(*cache.slots);
  std::vector<flight> running;
  outcome out{.sent = std::vector<int>(suite.size(), 0)};
  while (true) {
    const auto what = machine.next({});
    if (std::holds_alternative<prefix::finished>(what)) return out;
    if (const auto* go = std::get_if<prefix::send>(&what)) {
      REQUIRE(go->slot.has_value());
      REQUIRE(std::ranges::none_of(running, [&](const flight& one) { return one.slot == *go->slot; }));
      const auto cached = server.serve(*go->slot, suite[go->item]);
      if (go->predicted_cached) REQUIRE(*go->predicted_cached == cached);
      if (failures_in_100 == 0) REQUIRE(go->predicted_cached.has_value());
      out.cached += cached;
      ++out.sent[go->item];
      running.push_back({go->item, *go->slot});
      continue;
    }
    if (const auto* copy = std::get_if<prefix::share>(&what)) {
      const bool ok = static_cast<int>(random() % 100) >= failures_in_100;
      REQUIRE(!copy->to.empty());
      for (const auto& one : running) {
        REQUIRE(one.slot != copy->from);
        REQUIRE(std::ranges::find(copy->to, one.slot) == copy->to.end());
      }
      for (const auto to : copy->to) {
        if (ok) server.copy(copy->from, to);
      }
      machine.on_shared(ok);
      continue;
    }
    REQUIRE(!running.empty());  // A hold with nothing under way would be for ever.
    const auto ends = random() % running.size();
    machine.on_first_token(running[ends].item, {});
    machine.on_end(running[ends].item, {.ok = static_cast<int>(random() % 100) >= failures_in_100});
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
  }
}

std::vector<prefix::sequence> random_suite(std::mt19937& random) {
  std::vector<prefix::sequence> suite;
  const int families = 1 + static_cast<int>(random() % 5);
  for (auto n = 1 + random() % 60; n > 0; --n) {
    const int family = static_cast<int>(random()) & 0xFFFF;
    suite.push_back(prompt({{static_cast<int>(random() % 2) * 200 + 25, 9},
                            {150, family % families},
                            {static_cast<int>(random() % 2) * 90, 20},
                            {1 + static_cast<int>(random() % 30), 30 + static_cast<int>(random() % 200)}}));
  }
  return suite;
}

}  // namespace

TEST_CASE("every item goes out once, and every prediction is what a server with slots then does") {
  std::mt19937 random(991);
  for (int round = 0; round < 400; ++round) {
    const auto suite = random_suite(random);
    const auto slots = 1 + static_cast<std::uint32_t>(random() % 5);
    const int failures = round % 2 == 0 ? 0 : 20;
    const auto out = run(suite, {.slots = slots, .can_share = random() % 2 == 0}, failures, random);
    REQUIRE(std::ranges::all_of(out.sent, [](int times) { return times == 1; }));
  }
}

TEST_CASE("slots that share find as much as one slot does, but for what a hold would not be worth") {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    const auto suite = random_suite(random);
    std::uint64_t total = 0;
    for (const auto& one : suite) total += one.size();
    const auto one = run(suite, {.slots = 1}, 0, random);
    const auto four = run(suite, {.slots = 4, .can_share = true}, 0, random);
    // What is not worth a wait is computed once for each slot: a few units in a hundred.
    REQUIRE(four.cached + total / 10 >= one.cached);
  }
}

TEST_CASE("slots that do not share compute no more than twice what one slot computes") {
  std::mt19937 random(18);
  for (int round = 0; round < 100; ++round) {
    const auto suite = random_suite(random);
    std::uint64_t total = 0;
    for (const auto& one : suite) total += one.size();
    const auto one = run(suite, {.slots = 1}, 0, random);
    const auto four = run(suite, {.slots = 4}, 0, random);
    REQUIRE(total - four.cached <= 2 * (total - one.cached));
  }
}
