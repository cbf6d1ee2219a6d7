#include <doctest/doctest.h>
#include <sqlite3.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/episode_trace.hpp>
#include <evalcore/run/episodes.hpp>

#include "unit/retail.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using kind = run::episode_event::kind;

namespace {

run::episode_options options(std::uint32_t in_flight = 16) {
  run::episode_options how;
  how.suite = "retail-1";
  how.pool.max_in_flight = in_flight;
  how.pool.retry.first_delay = 1ms;
  return how;
}

/// One process: a store, a backend and the episodes on it.
class process {
 public:
  explicit process(const std::string& path, run::episode_options how = options(),
                   std::optional<std::uint32_t> slots = {})
      : agent(loop, slots), store_(open(path)), episodes(make(std::move(how))) {}

  net::loop loop;
  test::retail_agent agent;

 private:
  static run::store open(const std::string& path) {
    auto opened = run::store::open(path);
    REQUIRE_MESSAGE(opened, opened.error().message);
    return *std::move(opened);
  }
  std::unique_ptr<run::episodes> make(run::episode_options how) {
    auto made = run::episodes::open(loop, {&agent}, store_, std::move(how));
    REQUIRE_MESSAGE(made, made.error().message);
    return *std::move(made);
  }
  run::store store_;

 public:
  std::unique_ptr<run::episodes> episodes;
};

std::vector<json::value> trace_lines(const std::string& path) {
  auto store = run::store::open(path);
  REQUIRE(store);
  std::ostringstream text;
  REQUIRE(run::write_episode_traces(*store, "retail-1", text));
  std::vector<json::value> lines;
  std::istringstream in(text.str());
  for (std::string line; std::getline(in, line);) {
    auto value = json::parse(line);
    REQUIRE(value);
    lines.push_back(*std::move(value));
  }
  return lines;
}

/// The traces without what may differ between two runs: times, and what was in a cache.
std::string traces(const std::string& path) {
  std::string all;
  for (const auto& line : trace_lines(path)) {
    for (const auto& [key, value] : *line.if_object()) {
      if (key != "timing" && key != "usage") all += key + "=" + json::to_text(value) + " ";
    }
    all += "\n";
  }
  return all;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

run::episode_event next_event(run::episodes& from) {
  auto event = from.poll(10s);
  REQUIRE_MESSAGE(event, event.error().message);
  REQUIRE(event->has_value());
  return **event;
}

}  // namespace

TEST_CASE("sixteen at a time have the same traces as one at a time") {
  const test::temporary_folder folder;
  constexpr int tasks = 48;
  std::map<std::uint32_t, std::size_t> most_open;
  for (const std::uint32_t in_flight : {1U, 16U}) {
    const auto path = folder / ("run" + std::to_string(in_flight) + ".db");
    process at(path, options(in_flight));
    test::play(*at.episodes, tasks);
    const auto figures = at.episodes->finish();
    REQUIRE(figures);
    CHECK(figures->ended.at(run::episode_end::done) == tasks);
    // A pending order takes three turns (get, cancel, done); one that has arrived four (get, offer, exchange,
    // done).
    CHECK(figures->replies == tasks * 3 + tasks / 3);
    CHECK(figures->sent == figures->replies);
    CHECK(figures->left == 0);
    most_open[in_flight] = at.agent.most_open;
  }
  CHECK(most_open.at(1) == 1);
  CHECK(most_open.at(16) > 4);
  CHECK(most_open.at(16) <= 16);
  const auto quiet = traces(folder / "run1.db");
  CHECK(lines_in(quiet) == tasks * 4 + tasks / 3);
  CHECK(traces(folder / "run16.db") == quiet);
}

TEST_CASE("a trace holds each turn's part of the request, the reply, the calls, their results and the end") {
  const test::temporary_folder folder;
  {
    process at(folder / "run.db");
    test::play(*at.episodes, 2);
    REQUIRE(at.episodes->finish());
  }
  const auto lines = trace_lines(folder / "run.db");
  REQUIRE(lines.size() == 9);
  const auto& second = lines.at(6);  // Of task1, whose order is pending.
  CHECK(*second.find("episode")->if_string() == "task1");
  CHECK(*second.find("epoch")->if_int() == 0);
  CHECK(*second.find("turn")->if_int() == 2);
  CHECK(json::to_text(*second.find("request")) ==
        R"({"kept":3,"messages":[{"role":"tool","content":"W1 is pending","tool_call_id":"call_2"}]})");
  CHECK(json::to_text(*second.find("reply")) ==
        R"({"text":"","reasoning":"by the book","calls":[{"id":"call_4","name":"cancel_order",)"
        R"("arguments":"{ \"order_id\":  \"W1\" }"}],"finish":"tool_calls","model":""})");
  const auto* usage = second.find("usage");
  CHECK(*usage->find("cached_tokens")->if_int() > 0);
  CHECK(*usage->find("cached_tokens")->if_int() < *usage->find("prompt_tokens")->if_int());
  CHECK(usage->find("reasoning_tokens")->is_null());
  CHECK(*second.find("timing")->find("attempts")->if_int() == 1);
  CHECK(json::to_text(lines.at(8)) ==
        R"({"episode":"task1","epoch":0,"turns":3,"end":"done","outcome":{"status":"cancelled"}})");
}

TEST_CASE("an episode stays in its slot and finds there what it had before") {
  const test::temporary_folder folder;
  process at(folder / "run.db", options(16), 4);
  const auto events = test::play(*at.episodes, 20);
  CHECK(at.agent.most_open <= 4);
  std::map<run::episode_number, std::uint64_t> held;  // Bytes of its last prompt.
  int looked = 0;
  for (const auto& event : events) {
    if (event.what != kind::replied) continue;
    const auto& usage = event.reply.usage;
    if (event.turn > 1) {
      CHECK(usage.cached_tokens == held.at(event.episode));
      ++looked;
    }
    held[event.episode] = *usage.prompt_tokens;
  }
  CHECK(looked == 20 * 2 + 7);
  std::set<std::uint32_t> slots;
  for (const auto& slot : at.agent.slots_used) slots.insert(slot.value_or(99));
  CHECK(slots == std::set<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("what all episodes begin with is computed once, in one cache and in slots") {
  const std::string policy(5000, 'p');
  for (const auto slots : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(4)}) {
    const test::temporary_folder folder;
    process at(folder / "run.db", options(16), slots);
    at.agent.slow = 10ms;  // All have begun before the first has ended its turn.
    const auto events = test::play(*at.episodes, 12, SIZE_MAX, policy);
    int cold = 0;
    for (const auto& event : events) {
      if (event.what == kind::replied && event.turn == 1)
        cold += *event.reply.usage.cached_tokens < 5000 ? 1 : 0;
    }
    CHECK(cold == 1);
    REQUIRE(at.episodes->finish());
    REQUIRE(at.agent.shares.size() == (slots ? 1 : 0));
    if (slots) CHECK(at.agent.shares.front().second == std::vector<std::uint32_t>{1, 2, 3});
  }
}

TEST_CASE("a run that breaks off goes on at the last committed turn of each episode") {
  const test::temporary_folder folder;
  constexpr int tasks = 30;
  const auto path = folder / "run.db";
  std::map<std::string, int> before;
  {
    process first(path);
    REQUIRE(test::play(*first.episodes, tasks, 45).size() == 45);
    first.episodes.reset();  // And not finish(): nothing is put in order.
    before = first.agent.sent;
  }
  process second(path);
  const auto events = test::play(*second.episodes, tasks);
  const auto figures = second.episodes->finish();
  REQUIRE(figures);
  CHECK(figures->ended.at(run::episode_end::done) == tasks);
  CHECK(figures->diverged == 0);
  CHECK(figures->finished_before > 0);
  std::size_t twice = 0;
  for (const auto& [text, count] : second.agent.sent) twice += before.contains(text) ? 1U : 0U;
  // Only what was out, and unheard, when the first broke off.
  CHECK(twice <= 16);
  CHECK(figures->possibly_paid_twice <= twice);
  CHECK(before.size() + second.agent.sent.size() - twice == tasks * 3 + tasks / 3);
  CHECK(figures->reused > 0);
  CHECK(figures->reused ==
        static_cast<std::uint64_t>(std::ranges::count_if(events, &run::episode_event::reused)));
  for (const auto& event : events) {
    if (event.what != kind::finished) continue;
    const bool arrived = std::stoi(event.id.substr(4)) % 3 == 0;
    CHECK(event.outcome_json == (arrived ? R"({"status": "exchanged"})" : R"({"status": "cancelled"})"));
  }
}

TEST_CASE("the traces of a broken and resumed run are those of a quiet one") {
  const test::temporary_folder folder;
  for (const std::size_t break_after : {std::size_t{1}, std::size_t{17}, std::size_t{60}, SIZE_MAX}) {
    const auto path = folder / ("run" + std::to_string(break_after) + ".db");
    {
      process first(path);
      test::play(*first.episodes, 20, break_after);
    }
    process second(path);
    test::play(*second.episodes, 20);
    REQUIRE(second.episodes->finish());
  }
  const auto quiet = traces(folder / ("run" + std::to_string(SIZE_MAX) + ".db"));
  CHECK(lines_in(quiet) == 20 * 4 + 7);
  for (const auto* broken : {"run1.db", "run17.db", "run60.db"}) CHECK(traces(folder / broken) == quiet);
}

TEST_CASE("a host that asks otherwise than before is told so, and what was stored from there on is dropped") {
  const test::temporary_folder folder;
  const auto path = folder / "run.db";
  {
    process first(path);
    const auto number = first.episodes->begin("task1", test::retail_task(1).first());
    REQUIRE(number);
    test::retail_task task(1);
    for (int turn = 1; turn <= 2; ++turn) {
      REQUIRE(first.episodes->next(*number, task.react(next_event(*first.episodes).reply)));
    }
    CHECK(next_event(*first.episodes).turn == 3);
  }
  process second(path);
  const auto number = second.episodes->begin("task1", test::retail_task(1).first());
  REQUIRE(number);
  const auto first = next_event(*second.episodes);
  CHECK(first.reused);
  CHECK(first.turn == 1);
  auto result = test::says(chat::role::tool, "W1 is delivered");  // "pending" before.
  result.call_id = first.reply.calls.at(0).id;
  REQUIRE(second.episodes->next(*number, {result}));
  const auto told = next_event(*second.episodes);
  CHECK(told.what == kind::diverged);
  CHECK(told.turn == 2);
  CHECK(told.dropped == 2);
  const auto reply = next_event(*second.episodes);
  CHECK_FALSE(reply.reused);
  CHECK(reply.reply.text == "Order W1 has arrived. An exchange?");
  REQUIRE(second.episodes->end(*number, ""));
  const auto figures = second.episodes->finish();
  REQUIRE(figures);
  CHECK(figures->sent == 1);
  CHECK(figures->diverged == 1);
  second.episodes.reset();
}

TEST_CASE("an episode ends at its limit of turns or tokens with that reason, and the host keeps an outcome") {
  const test::temporary_folder folder;
  for (const bool by_turns : {true, false}) {
    auto how = options();
    if (by_turns) how.limits.turns = 2;
    if (!by_turns) how.limits.tokens = 1;
    const auto path = folder / (by_turns ? "turns.db" : "tokens.db");
    const std::uint32_t allowed = by_turns ? 2 : 1;
    for (const bool again : {false, true}) {
      process at(path, how);
      test::retail_task task(1);
      const auto number = at.episodes->begin("task1", task.first());
      REQUIRE(number);
      for (std::uint32_t turn = 1; turn <= allowed; ++turn) {
        const auto event = next_event(*at.episodes);
        CHECK(event.what == kind::replied);
        CHECK(event.reused == again);
        REQUIRE(at.episodes->next(*number, task.react(event.reply)));
      }
      const auto stopped = next_event(*at.episodes);
      CHECK(stopped.what == kind::stopped);
      CHECK(stopped.why == (by_turns ? run::episode_end::turns : run::episode_end::tokens));
      CHECK(stopped.turn == allowed);
      CHECK_FALSE(stopped.failure);
      CHECK(at.episodes->next(*number, task.first()).error().code == errc::invalid_argument);
      CHECK(at.episodes->use_of(*number)->turns == allowed);
      REQUIRE(at.episodes->end(*number, R"({"reward":0})"));
      const auto figures = at.episodes->finish();
      REQUIRE(figures);
      CHECK(figures->sent == (again ? 0 : allowed));
      CHECK(figures->ended.at(stopped.why) == 1);
    }
    const auto last = json::to_text(trace_lines(path).back());
    CHECK(last == R"({"episode":"task1","epoch":0,"turns":)" + std::to_string(allowed) + R"(,"end":")" +
                      (by_turns ? "turns" : "tokens") + R"(","outcome":{"reward":0}})");
  }
}

TEST_CASE("a request that is out when the episode's time is over is cancelled, the others go on") {
  const test::temporary_folder folder;
  auto how = options(2);
  how.limits.time = 50ms;
  process at(folder / "run.db", how);
  at.agent.stalls = [](const chat::request& request) {
    return request.messages.back().text == "W1 is pending";
  };
  const auto events = test::play(*at.episodes, 5);
  std::map<std::string, run::episode_end> stopped;
  for (const auto& event : events) {
    if (event.what == kind::stopped) stopped[event.id] = event.why;
  }
  CHECK(stopped == std::map<std::string, run::episode_end>{{"task1", run::episode_end::time}});
  const auto figures = at.episodes->finish();
  REQUIRE(figures);
  CHECK(figures->ended.at(run::episode_end::done) == 4);
}

TEST_CASE("what the host adds up to the limit of cost ends the episode before its next turn") {
  const test::temporary_folder folder;
  auto how = options();
  how.limits.cost = 0.01;
  process at(folder / "run.db", how);
  test::retail_task task(1);
  const auto number = at.episodes->begin("task1", task.first());
  REQUIRE(number);
  auto reply = next_event(*at.episodes).reply;
  REQUIRE(at.episodes->add_cost(*number, 0.004));
  REQUIRE(at.episodes->next(*number, task.react(reply)));
  reply = next_event(*at.episodes).reply;
  REQUIRE(at.episodes->add_cost(*number, 0.006));
  REQUIRE(at.episodes->next(*number, task.react(reply)));
  CHECK(next_event(*at.episodes).why == run::episode_end::cost);
  CHECK(at.agent.sent.size() == 2);
}

TEST_CASE("a request that fails for good stops its episode alone, and is sent again by the next process") {
  const test::temporary_folder folder;
  const auto path = folder / "run.db";
  {
    process at(path);
    at.agent.refuses = [](const chat::request& request) -> std::optional<error> {
      const auto& text = request.messages.back().text;
      if (text == "W1 is pending") return fail(errc::invalid_request, stage::body, "no such tool");
      if (text == "W2 is pending") return fail(errc::context_overflow, stage::body, "too long");
      return std::nullopt;
    };
    std::map<std::string, std::pair<run::episode_end, errc>> stopped;
    for (const auto& event : test::play(*at.episodes, 6)) {
      if (event.what == kind::stopped) stopped[event.id] = {event.why, event.failure->code};
    }
    CHECK(stopped == std::map<std::string, std::pair<run::episode_end, errc>>{
                         {"task1", {run::episode_end::errored, errc::invalid_request}},
                         {"task2", {run::episode_end::context, errc::context_overflow}}});
    const auto figures = at.episodes->finish();
    REQUIRE(figures);
    CHECK(figures->ended.at(run::episode_end::done) == 4);
  }
  const auto lines = trace_lines(path);
  const auto broken =
      std::ranges::find_if(lines, [](const auto& line) { return line.find("error") != nullptr; });
  REQUIRE(broken != lines.end());
  CHECK(json::to_text(*broken->find("error")) == R"({"code":"invalid_request","message":"no such tool"})");
  CHECK(broken->find("reply")->is_null());

  process at(path);
  test::play(*at.episodes, 6);
  const auto figures = at.episodes->finish();
  REQUIRE(figures);
  CHECK(figures->ended.at(run::episode_end::done) == 6);
  CHECK(figures->finished_before == 4);
  CHECK(figures->reused == 2);
  CHECK(figures->sent == 4);  // Two turns each: the cancellation and "Done".
}

TEST_CASE("a fault that passes is sent again, and the host sees one reply") {
  const test::temporary_folder folder;
  process at(folder / "run.db");
  int faults = 2;
  at.agent.refuses = [&](const chat::request&) -> std::optional<error> {
    return faults-- > 0 ? std::optional(fail(errc::overloaded, stage::body, "busy")) : std::nullopt;
  };
  const auto events = test::play(*at.episodes, 1);
  CHECK(events.size() == 4);  // Task 0 has four turns.
  const auto figures = at.episodes->finish();
  REQUIRE(figures);
  CHECK(figures->retried == 2);
  CHECK(figures->sent == 6);
  CHECK(figures->replies == 4);
}

TEST_CASE("an episode that is given up frees its place, is heard of no more, and runs again later") {
  const test::temporary_folder folder;
  const auto path = folder / "run.db";
  {
    process at(path, options(1));
    at.agent.stalls = [](const chat::request& request) {
      return request.messages.back().text.starts_with("Can");
    };
    const auto stalled = at.episodes->begin("task1", test::retail_task(1).first());
    const auto queued = at.episodes->begin("task2", test::retail_task(2).first());
    REQUIRE(stalled);
    REQUIRE(queued);
    CHECK_FALSE(at.episodes->poll(20ms)->has_value());
    REQUIRE(at.episodes->cancel(*queued));
    REQUIRE(at.episodes->cancel(*stalled));
    CHECK(at.episodes->running() == 0);
    CHECK(at.episodes->cancel(*stalled).error().code == errc::not_found);
    CHECK_FALSE(at.episodes->poll(20ms)->has_value());
    at.agent.stalls = nullptr;
    const auto next = at.episodes->begin("task4", test::retail_task(4).first());
    REQUIRE(next);
    CHECK(next_event(*at.episodes).episode == *next);
    const auto figures = at.episodes->finish();
    REQUIRE(figures);
    CHECK(figures->ended.at(run::episode_end::cancelled) == 2);
    CHECK(figures->left == 1);
  }
  process at(path);
  const auto events = test::play(*at.episodes, 3);
  CHECK(std::ranges::none_of(events, [](const auto& event) { return event.reused; }));
  CHECK(events.size() == 4 + 3 + 3);
}

TEST_CASE("calls that do not fit are refused with the reason, and change nothing") {
  const test::temporary_folder folder;
  process at(folder / "run.db");
  test::retail_task task(1);
  const auto number = at.episodes->begin("task1", task.first());
  REQUIRE(number);
  CHECK(at.episodes->next(*number, task.first()).error().message ==
        "episode task1 waits for a reply; next() comes after it");
  CHECK(at.episodes->end(*number, "").error().code == errc::invalid_argument);
  CHECK(at.episodes->begin("task1", task.first()).error().message ==
        "episode task1 is under way already; end it first, or give another epoch");
  CHECK(at.episodes->begin("task1", task.first(), 1));
  CHECK(at.episodes->next(99, task.first()).error().code == errc::not_found);
  auto event = next_event(*at.episodes);
  if (event.epoch == 1) event = next_event(*at.episodes);
  CHECK(at.episodes->end(*number, "{").error().message == "the outcome of episode task1 is no JSON");
  CHECK(at.episodes->end(*number, "{}"));
  CHECK(at.episodes->end(*number, "{}").error().code == errc::not_found);
  REQUIRE(at.episodes->finish());
  CHECK(at.episodes->begin("task3", task.first()).error().code == errc::closed);
  CHECK(at.episodes->poll(0ms).error().code == errc::closed);
  CHECK(
      run::episodes::open(at.loop, {}, *std::make_unique<run::store>(*run::store::open(folder / "x.db")), {})
          .error()
          .code == errc::invalid_argument);
}

TEST_CASE(
    "when the pool sends nothing more, every episode that waits for a reply is stopped with the reason") {
  const test::temporary_folder folder;
  auto how = options(2);
  how.pool.max_errors = 0;
  process at(folder / "run.db", how);
  at.agent.refuses = [](const chat::request&) { return fail(errc::auth, stage::body, "who are you?"); };
  const auto events = test::play(*at.episodes, 10);
  CHECK(events.size() == 10);
  for (const auto& event : events) {
    CHECK(event.what == kind::stopped);
    CHECK(event.why == run::episode_end::errored);
    REQUIRE(event.failure);
    CHECK(event.failure->message.find("who are you?") != std::string::npos);
  }
  CHECK(at.agent.sent.size() <= 2);
  // One that comes too late, as well.
  const auto late = at.episodes->begin("late", test::retail_task(7).first());
  REQUIRE(late);
  CHECK(next_event(*at.episodes).why == run::episode_end::errored);
}

TEST_CASE("a stored turn that was changed is found out, and nothing is sent on top of it") {
  const test::temporary_folder folder;
  const auto path = folder / "run.db";
  {
    process first(path);
    test::play(*first.episodes, 1, 2);
  }
  execute(path, "UPDATE turns SET added = replace(added, 'W0', 'W7')");
  process second(path);
  const auto begun = second.episodes->begin("task0", test::retail_task(0).first());
  REQUIRE_FALSE(begun);
  CHECK(begun.error().code == errc::storage);
  CHECK(begun.error().message ==
        "store " + path +
            " is damaged: turn 1 of episode task0 does not match its checksum; restore a copy or give "
            "another --store");
  CHECK(second.agent.sent.empty());
}

TEST_CASE("episodes can be begun from one thread while another polls") {
  const test::temporary_folder folder;
  process at(folder / "run.db");
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    static_cast<void>(at.episodes->begin("task1", test::retail_task(1).first()));
  });
  const auto event = next_event(*at.episodes);
  other.join();
  CHECK(event.id == "task1");
  at.episodes->wake();
  const auto before = std::chrono::steady_clock::now();
  CHECK_FALSE(at.episodes->poll(10s)->has_value());
  CHECK(std::chrono::steady_clock::now() - before < 5s);
}
