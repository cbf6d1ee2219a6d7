// F18, F19, F20: how much a server answers.
#include <array>
#include <stdexcept>
#include <string>

#include <evalcore/base/processor_time.hpp>

#include "faults/cases.hpp"
#include "loopback/hostile_answers.hpp"
#include "own_memory.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;

const std::vector<test::hostile_answer>& hostile() {
  static const auto all = test::hostile_answers();
  return all;
}

const test::hostile_answer& named(std::string_view name) {
  for (const auto& one : hostile()) {
    if (one.name == name) return one;
  }
  throw std::logic_error("no such answer");
}

struct bounds {
  double memory_mb = 0;
  double cpu_s = 0;
};

/// The flood, then a good answer. The server is within this process, and its part of the costs is counted.
void meet(const form& how, judge& verdict, const test::hostile_answer& flood, const bounds& most) {
  const test::fault_server server({models(how), good(how), flood.acts, good(how)});
  setup asks;
  asks.url = server.url();
  asks.how = how;
  asks.deadlines.attempt = 5s;
  asks.pool.total_deadline = 8s;
  client host(asks);
  verdict.answered_at_once(host.run());         // What any first request costs is not the flood's.
  std::ofstream("/proc/self/clear_refs") << 5;  // The peak is counted from here.
  const double memory_before = bench::memory_mb("VmRSS:");
  const double cpu_before = processor_seconds();
  const auto seen = host.run();
  [[maybe_unused]] const double memory = bench::memory_mb("VmHWM:") - memory_before;
  [[maybe_unused]] const double cpu = processor_seconds() - cpu_before;
  verdict.answered_after(seen, {*flood.expected});
#ifndef EVALCORE_SANITIZED
  verdict.must(memory <= most.memory_mb, "took " + std::to_string(memory) + " MB");
  verdict.must(cpu <= most.cpu_s, "took " + std::to_string(cpu) + " s of processor time");
#else
  static_cast<void>(most);
#endif
}

}  // namespace

void prepare_floods() { static_cast<void>(hostile()); }

void header_floods(const form& how, judge& verdict) {
  constexpr std::array floods{"a megabyte of headers", "5001 headers", "endless headers"};
  meet(how, verdict, named(floods[how.number / 4 % floods.size()]), {.memory_mb = 2, .cpu_s = 0.5});
}

void gzip_bombs(const form& how, judge& verdict) {
  constexpr std::array bombs{"gzip bomb", "gzip bomb in a bomb", "gzip bomb as an error page"};
  meet(how, verdict, named(bombs[how.number / 4 % bombs.size()]), {.memory_mb = 80, .cpu_s = 0.5});
}

void endless_answers(const form& how, judge& verdict) {
  constexpr std::array streams{"endless line of an event", "endless lines of an event", "endless comments"};
  constexpr std::array bodies{"endless body", "endless chunks", "endless error page"};
  const auto& one = named((how.streamed ? streams : bodies)[how.number / 4 % 3]);
  meet(how, verdict, one, {.memory_mb = 80, .cpu_s = 2});
}

}  // namespace evalcore::faults
