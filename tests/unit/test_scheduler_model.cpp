// Requests of all kinds at random, against what must hold whatever happens.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/scheduler_rig.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

struct asked_request {
  std::size_t number = 0;  ///< In the order of submission; part of the prompt.
  std::string prompt;
  std::uint32_t tokens = 0;
  bool alone = false;
  bool keyed = false;
  bool cancelled = false;
  reader from;
};

std::string answer_alone(const std::string& prompt, std::uint32_t tokens) {
  static std::map<std::pair<std::string, std::uint32_t>, std::string> known;
  auto& text = known[{prompt, tokens}];
  if (text.empty()) text = alone(prompt, tokens);
  return text;
}

/// Numbers below the one asked for.
class dice {
 public:
  explicit dice(std::uint32_t number) : random_(number) {}
  std::uint32_t operator()(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

 private:
  std::mt19937 random_;
};

engine::request random_request(dice& below, asked_request& as) {
  const std::uint32_t shared = 16 + 37 * (below(4));
  as.prompt = std::string(shared, "ab"[below(2)]) + std::to_string(as.number);
  as.tokens = 1 + below(12);
  as.alone = below(6) == 0;
  auto what = as.alone ? sampling(as.prompt, as.tokens) : asking(as.prompt, as.tokens);
  what.watch_prefill = below(4) == 0;
  if (below(3) > 0) {
    as.keyed = true;
    what.share = engine::prefix_sharing{.key = "k"};
    if (below(4) > 0) what.share->cuts = {shared, shared / 2};
  }
  return what;
}

/// Whoever began before one that came earlier is of its kind, and the other may have waited for a prefix.
void check_order(const rig& one, const std::vector<asked_request>& all) {
  std::vector<const asked_request*> begun;
  for (const auto& row : one.model.opened) {
    const std::string prompt(row.prompt.begin(), row.prompt.end());
    const auto found = std::ranges::find(all, prompt, &asked_request::prompt);
    REQUIRE(found != all.end());
    begun.push_back(&*found);
  }
  for (std::size_t late = 0; late < begun.size(); ++late) {
    for (std::size_t early = 0; early < late; ++early) {
      if (begun[early]->number < begun[late]->number) continue;
      REQUIRE(begun[early]->keyed);
      REQUIRE(begun[late]->keyed);
      REQUIRE(!begun[early]->alone);
      REQUIRE(!begun[late]->alone);
    }
  }
}

void check_one_run(std::uint32_t number) {
  dice below(number);
  engine::simulated_options simulated;
  simulated.about.prefix_grid = below(2) == 0 ? 1 : 32;
  simulated.about.max_rows = 2 + below(6);
  simulated.holds_prefilling_rows = below(2) == 0;
  simulated.knows_snapshot_size = below(2) == 0;
  simulated.prefill_chunk = 7 + below(60);
  simulated.cost.decode_step = 1ms;
  simulated.cost.prefill_token = 100us;
  engine::options how{.max_batch_size = 1 + below(6), .max_queue_size = 64};
  rig one(how, simulated,
          engine::prefix_cache_options{.max_bytes = (std::uint64_t{1} << 10U) * (below(500)),
                                       .reserve_bytes = 0});
  std::vector<asked_request> all;
  for (int round = 0; round < 400; ++round) {
    const auto event = below(10);
    if (event == 0 && all.size() < 60) {
      auto& made = all.emplace_back();
      made.number = all.size();
      auto what = random_request(below, made);
      made.from = one.submit(std::move(what));
    } else if (event == 1 && !all.empty()) {
      auto& some = all[below(all.size())];
      if (!some.from.out->ended()) {
        some.cancelled = true;
        one.machine.cancel(some.from.id);
      }
    } else if (event == 2 && !all.empty()) {
      all[below(all.size())].from.read();
    } else {
      one.turn();
    }
    REQUIRE(one.model.model.open_rows() <= std::min(how.max_batch_size, simulated.about.max_rows));
    REQUIRE(one.prefixes->stats().resident_bytes <= one.prefixes->stats().memory_max_bytes);
  }
  one.run();
  std::uint64_t cancelled = 0;
  for (auto& each : all) {
    each.from.read();
    REQUIRE(each.from.ends == 1);
    cancelled += each.cancelled ? 1U : 0U;
    if (each.cancelled) {
      REQUIRE(each.from.refusal() == "cancelled");
      continue;
    }
    REQUIRE(each.from.answer().generation_tokens == each.tokens);
    REQUIRE(each.from.text == answer_alone(each.prompt, each.tokens));
    if (each.alone) REQUIRE(each.from.answer().how.peak_batch_size == 1);
  }
  check_order(one, all);
  const auto stats = one.machine.stats();
  REQUIRE(stats.submitted == all.size());
  REQUIRE(stats.cancelled == cancelled);
  REQUIRE(stats.completed == all.size() - cancelled);
  REQUIRE(stats.failed == 0);
  REQUIRE(stats.active == 0);
  REQUIRE(one.model.model.open_rows() == 0);
  REQUIRE(static_cast<std::uint64_t>(one.model.model.live_snapshots()) == one.prefixes->stats().snapshots);
  one.machine.close();
  one.run();
  REQUIRE(one.stopped);
}

}  // namespace

TEST_CASE("whatever joins, leaves and is kept, each request ends once with the answer that it has alone") {
  for (std::uint32_t number = 1; number <= 400; ++number) {
    CAPTURE(number);
    check_one_run(number);
  }
}

TEST_CASE("whatever fails, each request ends once, with its answer or with what failed") {
  std::uint64_t failed = 0;
  for (std::uint32_t number = 1; number <= 300; ++number) {
    CAPTURE(number);
    dice below(number);
    engine::simulated_options simulated;
    simulated.holds_prefilling_rows = below(2) == 0;
    simulated.knows_snapshot_size = below(2) == 0;
    simulated.prefill_chunk = 7 + below(60);
    rig one({.max_queue_size = 64}, simulated,
            engine::prefix_cache_options{.max_bytes = std::uint64_t{200} << 10U, .reserve_bytes = 0});
    std::vector<asked_request> all;
    for (int round = 0; round < 300; ++round) {
      const auto event = below(16);
      if (event < 2 && all.size() < 60) {
        auto& made = all.emplace_back();
        made.number = all.size();
        auto what = random_request(below, made);
        made.from = one.submit(std::move(what));
      } else if (event == 2) {
        one.model.model.fail_step(fail(errc::backend_fault, stage::body, "step"));
      } else if (event == 3) {
        one.model.model.fail_open(fail(errc::busy, stage::body, "room"));
      } else if (event == 4) {
        one.model.model.fail_open(fail(errc::no_memory, stage::body, "open"));
      } else if (event == 5) {
        one.model.model.fail_snapshot(fail(errc::no_memory, stage::body, "snapshot"));
      } else {
        one.turn();
      }
    }
    one.run();
    for (auto& each : all) {
      each.from.read();
      REQUIRE(each.from.ends == 1);
      if (*each.from.end) {
        REQUIRE(each.from.text == answer_alone(each.prompt, each.tokens));
        continue;
      }
      ++failed;
      const auto& why = each.from.end->error().message;
      CAPTURE(why);
      REQUIRE((why == "step" || why == "room" || why == "open"));
    }
    REQUIRE(one.model.model.open_rows() == 0);
    REQUIRE(one.machine.stats().active == 0);
  }
  CHECK(failed > 500);
}
