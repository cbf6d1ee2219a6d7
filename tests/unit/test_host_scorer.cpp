#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/run/host_scorer.hpp>
#include <evalcore/run/merge.hpp>

#include "unit/run_fixture.hpp"

using namespace evalcore;
using test::item;
using test::run_fixture;

namespace {

/// Scores by what a table says of an item; who is not in it gets no answer.
class judge {
 public:
  explicit judge(std::map<std::string, score::verdict> says, const std::string& name = "judged")
      : says_(std::move(says)) {
    scorer = std::make_shared<run::host_scorer>(name, [this](run::score_question&& what) {
      const auto found = says_.find(what.item_id);
      asked.push_back(std::move(what));
      if (found != says_.end()) CHECK(scorer->give(asked.back().ticket, found->second));
    });
  }
  judge(const judge&) = delete;
  judge& operator=(const judge&) = delete;

  std::shared_ptr<run::host_scorer> scorer;
  std::vector<run::score_question> asked;

 private:
  std::map<std::string, score::verdict> says_;
};

score::verdict worth(double value) { return {true, value, "", ""}; }

run::run_options scored_by(const judge& who) {
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.scorer = who.scorer;
  return how;
}

/// Three items that are answered "yes".
void ask_three(run_fixture& at) {
  at.suite(item("a", "yes") + item("b", "no") + item("c", "no"));
  at.script(R"({"text":"yes"})"
            "\n");
}

}  // namespace

TEST_CASE("a host's scores count as those of any scorer, in the place of the suite's") {
  run_fixture at;
  ask_three(at);
  const judge who({{"a", worth(1)}, {"b", worth(0.5)}, {"c", {false, 0, "", "the judge is down"}}});
  const auto ran = at.run(scored_by(who));
  REQUIRE(ran.metrics.size() == 1);
  CHECK(ran.metrics[0].metric == "judged");
  CHECK(ran.metrics[0].items == 3);
  CHECK(ran.metrics[0].scored == 2);
  CHECK(ran.answered == 3);
  CHECK(ran.unscored == 1);
  CHECK(*ran.score() == doctest::Approx(1.5 / 3));
  CHECK(*ran.score_upper_bound() == doctest::Approx(2.5 / 3));
  CHECK(at.notes == std::vector<std::string>{"item \"c\" was not scored: the judge is down"});
  REQUIRE(who.asked.size() == 3);
  const auto first = std::ranges::find(who.asked, "a", &run::score_question::item_id);
  CHECK(first->line + "\n" == item("a", "yes"));
  CHECK(*first->target.if_string() == "yes");
  CHECK(first->reply.text == "yes");
  CHECK(first->epoch == 0);
}

TEST_CASE("a run that goes on asks a host for no score that it has, and again for those that failed") {
  run_fixture at;
  ask_three(at);
  const judge first({{"a", worth(1)}, {"b", worth(0.5)}, {"c", {false, 0, "", "down"}}});
  at.run(scored_by(first));

  const judge second({{"c", worth(0)}});
  const auto again = at.run(scored_by(second));
  CHECK(again.sent == 0);
  CHECK(again.reused == 3);
  CHECK(again.unscored == 0);
  CHECK(*again.score() == doctest::Approx(0.5));
  REQUIRE(second.asked.size() == 1);
  CHECK(second.asked[0].item_id == "c");
  CHECK(second.asked[0].reply.text == "yes");

  const judge third({});
  CHECK(*at.run(scored_by(third)).score() == doctest::Approx(0.5));
  CHECK(third.asked.empty());
}

TEST_CASE("scores of a host and of the suite's scorers, or of hosts of two names, are kept apart") {
  run_fixture at;
  ask_three(at);
  const judge generous({{"a", worth(1)}, {"b", worth(1)}, {"c", worth(1)}}, "exact");
  CHECK(*at.run(scored_by(generous)).score() == 1);
  run::run_options own;
  own.request.defaults.temperature = 0;
  CHECK(*at.run(own, {}, true).score() == doctest::Approx(1.0 / 3));
  const judge other({{"a", worth(0)}, {"b", worth(0)}, {"c", worth(0)}}, "strict");
  // Replies to the same requests stand in: they are scored anew, and nothing is sent.
  const auto strict = at.run(scored_by(other), {}, true);
  CHECK(strict.sent == 0);
  CHECK(strict.stood_in == 3);
  CHECK(*strict.score() == 0);
  CHECK(*at.run(scored_by(generous)).score() == 1);
}

TEST_CASE("a host that never answers does not hold up a run that is cancelled, and no reply is lost") {
  run_fixture at;
  ask_three(at);
  judge silent({{"a", worth(1)}});
  std::stop_source stop;
  at.on_progress = [&](const run::progress& now) {
    if (now.done == 3 && silent.asked.size() == 3) stop.request_stop();
  };
  const auto ran = at.run(scored_by(silent), stop.get_token());
  CHECK(ran.interrupted);
  CHECK(ran.answered == 3);
  CHECK(ran.not_run == 0);
  CHECK(ran.unscored == 2);
  CHECK(*ran.score() == doctest::Approx(1.0 / 3));
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] == "2 answers have no score yet; the run that goes on from here asks for them");
  const auto late = silent.scorer->give(silent.asked[2].ticket, worth(1));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == errc::not_found);

  at.on_progress = nullptr;
  const judge awake({{"b", worth(1)}, {"c", worth(1)}});
  const auto again = at.run(scored_by(awake));
  CHECK(again.sent == 0);
  CHECK(awake.asked.size() == 2);
  CHECK(*again.score() == 1);
}

TEST_CASE("scores may come late, in any order and from any thread, and few replies are out at once") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 600; ++i) lines += item("i" + std::to_string(i), "yes");
  at.suite(lines);
  at.script(R"({"text":"yes"})"
            "\n");
  std::mutex mutex;
  std::vector<std::uint64_t> waiting;
  std::size_t most = 0;
  const auto who = std::make_shared<run::host_scorer>("judged", [&](run::score_question&& what) {
    const std::lock_guard held(mutex);
    waiting.push_back(what.ticket);
    most = std::max(most, waiting.size());
  });
  std::atomic<bool> over = false;
  std::size_t refused = 0;
  std::size_t half = 0;
  std::thread scoring([&] {
    while (!over) {
      std::vector<std::uint64_t> now;
      {
        const std::lock_guard held(mutex);
        if (waiting.size() == 256 || half + waiting.size() == 600) now.swap(waiting);
      }
      for (; !now.empty(); now.pop_back()) {
        if (!who->give(now.back(), worth(half % 2 == 0 ? 1 : 0))) ++refused;
        ++half;
      }
      std::this_thread::yield();
    }
  });
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.scorer = who;
  const auto ran = at.run(how);
  over = true;
  scoring.join();
  CHECK(refused == 0);
  CHECK(most == 256);
  CHECK(ran.unscored == 0);
  CHECK(*ran.score() == doctest::Approx(0.5));
}

TEST_CASE("a host's score is a number from 0 to 1, and is given once") {
  std::vector<std::uint64_t> asked;
  run::host_scorer who("judged", [&](run::score_question&& what) { asked.push_back(what.ticket); });
  const auto ticket = who.ask({});
  CHECK(asked == std::vector<std::uint64_t>{ticket});
  for (const double wrong : {-0.1, 1.1, std::nan("")}) {
    const auto refused = who.give(ticket, worth(wrong));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::invalid_argument);
  }
  CHECK(who.give(ticket, worth(1)));
  CHECK(who.give(ticket, worth(1)).error().code == errc::not_found);
  CHECK(who.give(ticket + 1, worth(1)).error().code == errc::not_found);
  const auto given = who.take();
  REQUIRE(given.size() == 1);
  CHECK(given[0].first == ticket);
  CHECK(given[0].second.value == 1);
}

TEST_CASE("second answers are scored by the host, too: scores that differ are flips") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes"));
  at.script(R"({"text":"yes"})"
            "\n");
  std::shared_ptr<run::host_scorer> who;
  std::vector<std::uint32_t> epochs;
  who = std::make_shared<run::host_scorer>("judged", [&](run::score_question&& what) {
    epochs.push_back(what.epoch);
    const bool second_of_b = what.item_id == "b" && what.epoch == 1;
    CHECK(who->give(what.ticket, worth(second_of_b ? 0 : 1)));
  });
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.scorer = who;
  how.noise_floor = 2;
  const auto ran = at.run(how);
  std::ranges::sort(epochs);
  CHECK(epochs == std::vector<std::uint32_t>{0, 0, 1, 1});
  REQUIRE(ran.noise_floor);
  CHECK(ran.noise_floor->pairs == 2);
  CHECK(ran.noise_floor->changed == 0);
  CHECK(ran.noise_floor->flips == 1);
  CHECK(*ran.score() == 1);
}

TEST_CASE("a merge takes a host's scores as the parts have them") {
  run_fixture at;
  ask_three(at);
  const judge who({{"a", worth(1)}, {"b", worth(0.25)}, {"c", {false, 0, "", "down"}}});
  auto how = scored_by(who);
  how.pool.retry.retries = 0;
  for (const std::uint32_t part : {1U, 2U}) {
    at.use_store("part" + std::to_string(part) + ".db");
    how.part = run::shard{part, 2};
    at.run(how);
  }
  run::merge_options into;
  into.parts = {at.path("part1.db"), at.path("part2.db")};
  into.into = at.path("merged.db");
  const auto merged = run::merge(into);
  REQUIRE_MESSAGE(merged, merged.error().message);
  CHECK(merged->what.answered == 3);
  CHECK(merged->what.unscored == 1);
  REQUIRE(merged->what.metrics.size() == 1);
  CHECK(merged->what.metrics[0].metric == "judged");
  CHECK(*merged->what.score() == doctest::Approx(1.25 / 3));

  at.use_store("other.db");
  const judge another({{"a", worth(1)}, {"b", worth(1)}, {"c", worth(1)}}, "stricter");
  how.scorer = another.scorer;
  at.run(how);
  into.parts[1] = at.path("other.db");
  into.into = at.path("wrong.db");
  const auto refused = run::merge(into);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("host_scorer is stricter in") != std::string::npos);
}
