// The adaptive limit against the simulated servers of bench/auto.cpp, with fewer seeds and smaller limits.
#include <doctest/doctest.h>

#include "bench/auto/cases.hpp"

using namespace evalcore;

namespace {

constexpr std::uint32_t most_slots = 64;

/// A KV pool is full or not by the lengths that happen to be in flight: one run of few slots tells little.
std::uint64_t seeds_for(const bench::limit_case& one) {
  if (one.facts.kind != bench::overload::fills_kv) return 2;
  return one.facts.slots <= 16 ? 20 : 4;
}

}  // namespace

TEST_CASE(
    "a server's hidden limit is found: throughput, makespan and rejections beside the best fixed limit") {
  for (const auto& one : bench::limit_cases()) {
    if (one.facts.slots > most_slots || one.steps()) continue;
    CAPTURE(one.name);
    const auto result = bench::measure_limit(one, seeds_for(one));
    CHECK(result.of_best.mean >= 0.95);
    CHECK(result.of_makespan.mean >= 0.90);
    CHECK(result.rejected.mean <= 0.02);
  }
}

TEST_CASE("a server that suddenly takes a quarter is found again within thirty seconds") {
  for (const auto& one : bench::limit_cases()) {
    if (!one.steps()) continue;
    CAPTURE(one.name);
    const auto result = bench::measure_limit(one, seeds_for(one));
    CHECK(result.of_best.mean >= 0.95);
    CHECK(result.rejected.mean <= 0.02);
    CHECK(result.back_s <= 30);
  }
}
