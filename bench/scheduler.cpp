// bench_scheduler: what the scheduler itself costs. 256 rows run on a simulated engine on a virtual clock,
// with stop strings, and readers that take what there is after each step and have phase events made of it;
// whoever ends is replaced. Prints a table on standard error and the figures as JSON on standard output.
//
// row_steps_per_cpu_second  row-steps (a row that decodes a token or prefills a part, in one step) divided by
// the
//                           processor seconds of scheduler and readers; those of the engine are not counted
// row_steps                 in all
// requests                  that ended
// phase_events              that the readers got
// resident_growth_bytes     of the process, from the first tenth of the run to its end
#include "engine/scheduler.hpp"

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/engine/phase_events.hpp>
#include <evalcore/engine/simulated.hpp>

#include "engine/perform.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t rows = 256;
constexpr std::uint64_t wanted_row_steps = 10'000'000;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::int64_t resident_bytes() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// In the place of a lock: measures what is done without it.
struct engine_time {
  double total = 0;
  double since = 0;
  void unlock() { since = cpu_seconds(); }
  void lock() { total += cpu_seconds() - since; }
};

class readers {
 public:
  void add(const engine::scheduler::ticket& given, instant now) {
    auto& one = open_[given.id];
    one.out = given.out;
    one.phases = {[this](const engine::phase_event&) { ++events; }, "simulated", "simulated", now};
    one.phases.prefill(now);
  }

  /// Everything that there is to read. Returns how many ended.
  std::uint32_t read(engine::scheduler& decisions, instant now) {
    std::uint32_t ended = 0;
    static_cast<void>(decisions.take_news(news_));
    for (const auto id : news_) {
      const auto found = open_.find(id);
      if (found == open_.end()) continue;
      auto& one = found->second;
      const auto end = one.out->take(records_);
      for (const auto& record : records_) {
        if (const auto* seen = std::get_if<engine::prefill_seen>(&record)) {
          one.phases.prefill_at(now, seen->processed, {.prompt_tokens = seen->prompt_tokens});
        } else {
          one.phases.generation(now, ++one.generated);
        }
      }
      if (!end) continue;
      one.phases.complete(now, one.generated, "stop");
      open_.erase(found);
      ++ended;
    }
    return ended;
  }

  std::uint64_t events = 0;

 private:
  struct reader {
    std::shared_ptr<engine::outlet> out;
    engine::phase_emitter phases;
    std::int64_t generated = 0;
  };
  std::unordered_map<engine::job_id, reader> open_;
  std::vector<engine::job_id> news_;
  std::vector<engine::record> records_;
};

engine::request next_request(std::uint64_t number) {
  engine::request made;
  std::vector<engine::token> prompt(64);
  for (std::size_t at = 0; at < prompt.size(); ++at) {
    prompt[at] = static_cast<engine::token>((number * 31 + at) % 251);
  }
  made.prompt = std::move(prompt);
  made.max_tokens = static_cast<std::uint32_t>(100 + number % 100);
  made.stop = {"\n\nQuestion:", "</answer>", "zzzz"};
  made.watch_prefill = true;
  return made;
}

}  // namespace

int main() {
  engine::virtual_clock clock;
  engine::simulated_options how;
  how.cost = {.prefill_token = 10us, .decode_step = 5ms, .decode_row = 100us, .snapshot = {}};
  engine::simulated_engine model(how, clock);
  engine::scheduler decisions({.max_batch_size = rows, .max_queue_size = rows, .batch_wait_ms = 0},
                              model.about(), nullptr);
  readers hosts;
  engine_time work;
  engine::step_output out;
  std::uint64_t row_steps = 0;
  std::uint64_t submitted = 0;
  std::uint64_t requests = 0;
  std::int64_t resident = 0;
  std::uint32_t in_flight = 0;
  const auto begun = cpu_seconds();
  while (row_steps < wanted_row_steps) {
    for (; in_flight < rows; ++in_flight) {
      const auto given = decisions.submit(next_request(submitted++), false, clock.now);
      if (!given) return 1;
      hosts.add(*given, clock.now);
    }
    auto to_do = decisions.next(clock.now);
    const bool step = std::holds_alternative<engine::run_step>(to_do);
    engine::perform(to_do, model, out, decisions, work, [&] { return clock.now; });
    if (!step) continue;
    row_steps += out.prefill.size() + out.tokens.size();
    const auto ended = hosts.read(decisions, clock.now);
    in_flight -= ended;
    requests += ended;
    if (resident == 0 && row_steps > wanted_row_steps / 10) resident = resident_bytes();
  }
  const auto own = cpu_seconds() - begun - work.total;
  const auto growth = resident_bytes() - resident;
  const auto rate = static_cast<double>(row_steps) / own;

  std::fprintf(stderr, "%llu row-steps, %llu requests, %llu phase events\n",
               static_cast<unsigned long long>(row_steps), static_cast<unsigned long long>(requests),
               static_cast<unsigned long long>(hosts.events));
  std::fprintf(stderr,
               "scheduler and readers %.2f s (%.0f ns a row-step), engine %.2f s, %lld bytes more memory\n",
               own, 1e9 / rate, work.total, static_cast<long long>(growth));
  json::writer figures;
  figures.begin_object();
  figures.key("row_steps_per_cpu_second").number(rate);
  figures.key("row_steps").number(row_steps);
  figures.key("requests").number(requests);
  figures.key("phase_events").number(hosts.events);
  figures.key("resident_growth_bytes").number(growth);
  figures.end_object();
  std::printf("%s\n", figures.text().c_str());
  return 0;
}
