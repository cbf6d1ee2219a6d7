// The adaptive limit against the simulated servers of bench/auto.cpp, with fewer seeds and smaller limits.
#include <doctest/doctest.h>

#include "bench/auto/cases.hpp"

using namespace evalcore;

namespace {

constexpr std::uint64_t seeds = 2;
constexpr std::uint32_t most_slots = 64;

}  // namespace

TEST_CASE(
    "a server's hidden limit is found: throughput, makespan and rejections beside the best fixed limit") {
  for (const auto& one : bench::limit_cases()) {
    if (one.facts.slots > most_slots || one.facts.kind == bench::overload::fills_kv || one.steps()) continue;
    CAPTURE(one.name);
    const auto result = bench::measure_limit(one, seeds);
    CHECK(result.of_best.mean >= 0.95);
    CHECK(result.of_makespan.mean >= 0.90);
    CHECK(result.rejected.mean <= 0.02);
  }
}

TEST_CASE("a server that suddenly takes a quarter is found again within thirty seconds") {
  for (const auto& one : bench::limit_cases()) {
    if (one.facts.kind == bench::overload::fills_kv || !one.steps()) continue;
    CAPTURE(one.name);
    const auto result = bench::measure_limit(one, seeds);
    CHECK(result.of_best.mean >= 0.95);
    CHECK(result.rejected.mean <= 0.02);
    CHECK(result.back_s <= 30);
  }
}

TEST_CASE("a server that collapses when its KV pool is full is kept near its best, though not within 5 %") {
  for (const auto& one : bench::limit_cases()) {
    if (one.facts.slots > most_slots || one.facts.kind != bench::overload::fills_kv) continue;
    CAPTURE(one.name);
    const auto result = bench::measure_limit(one, seeds);
    CHECK(result.of_best.mean >= (one.steps() ? 0.65 : 0.80));
    CHECK(result.rejected.mean == 0);
  }
}
