#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/run/planning.hpp>
#include <evalcore/run/runner.hpp>

#include "unit/run_fixture.hpp"
#include "unit/store_log.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore;
using test::item;
using test::run_fixture;

namespace {

/// Refuses one question, and is not to be sent any.
class picky final : public evalcore::backend::backend {
 public:
  [[nodiscard]] const evalcore::backend::info& about() const override { return info_; }
  [[nodiscard]] evalcore::backend::capabilities can() const override { return {}; }
  [[nodiscard]] result<void> check(const chat::request& request) const override {
    if (request.messages.front().text != "ask b") return {};
    return fail(errc::unsupported, stage::send, "no question of b");
  }
  evalcore::backend::ticket start(const chat::request& /*request*/,
                                  std::shared_ptr<evalcore::backend::sink> /*to*/) override {
    FAIL("a request was sent");
    return 0;
  }
  void cancel(evalcore::backend::ticket /*which*/) override {}

 private:
  evalcore::backend::info info_;
};

}  // namespace

TEST_CASE("what the backend would refuse is told with its line before anything is sent") {
  const test::temporary_folder folder;
  const auto path = folder.write("suite.jsonl", item("a", "A") + item("b", "B"));
  const auto suite = run::suite::open(path);
  REQUIRE(suite);
  net::loop loop;
  picky to;
  auto store = run::store::open(folder / "run.db");
  REQUIRE(store);
  const run::observer watch{[](const std::string&) {}, [](const run::progress&) {}};
  const auto ran = run::run_suite(*suite, loop, {&to}, *store, {}, watch, {});
  REQUIRE_FALSE(ran);
  CHECK(ran.error().code == errc::bad_suite);
  CHECK(ran.error().at == stage::suite);
  CHECK(ran.error().message == path + ":2: no question of b");
  CHECK(run::plan_items(*suite, {0}, {}, {}, loop, to, {}, {}));
}

TEST_CASE("right, wrong and errored are three things") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes") + item("c", "yes") + item("d", "yes"));
  at.script(R"({"match":"ask b","text":"no"})"
            "\n"
            R"({"match":"ask c","error":{"code":"overloaded","message":"busy"}})"
            "\n"
            R"({"match":"ask d","text":"","finish":"length"})"
            "\n"
            R"({"text":"yes","usage":{"prompt_tokens":5,"cached_tokens":2,"completion_tokens":1}})"
            "\n");
  run::run_options greedy;
  greedy.request.defaults.temperature = 0;
  greedy.pool.retry.retries = 0;
  const auto ran = at.run(greedy);
  CHECK(ran.items == 4);
  CHECK(ran.answered == 3);
  CHECK(ran.errors == 1);
  CHECK(ran.errors_by_class == std::map<std::string, std::uint64_t>{{"overloaded", 1}});
  CHECK(ran.unscored == 0);
  CHECK(*ran.score() == 0.25);
  CHECK(*ran.score_upper_bound() == 0.5);
  CHECK(ran.cut_by_length == 1);
  CHECK(ran.empty_answers == 1);
  CHECK(ran.prompt_tokens == 5U);
  CHECK(ran.cached_tokens == 2U);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0].find("\"c\"") != std::string::npos);
}

TEST_CASE("a second run sends only what errored, and what it reuses counts the same") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "no") + item("c", "yes"));
  at.script(R"({"match":"ask c","error":{"code":"transport","message":"reset"}})"
            "\n"
            R"({"text":"yes"})"
            "\n");
  run::run_options how;
  how.pool.retry.retries = 0;
  const auto first = at.run(how);
  CHECK(first.errors == 1);
  const auto again = at.run(how);
  CHECK(again.reused == 2);
  CHECK(again.sent == 1);
  CHECK(again.errors == 1);
  CHECK(again.score() == first.score());
  CHECK(again.possibly_paid_twice == 0);
}

TEST_CASE("only of a backend that may sample by default it is said that items have no temperature") {
  run_fixture at;
  at.suite(item("a", "yes"));
  at.script(R"({"text":"yes"})"
            "\n");
  at.run();
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0].starts_with("1 of 1 items are sent without a temperature"));

  net::loop loop;
  engine::virtual_clock clock;
  const auto greedy = test::open_simulated(loop, clock);
  at.use_store("greedy.db");
  run::run_options how;
  how.request.defaults.max_tokens = 4;
  const auto ran = at.run_on(loop, *greedy, how);
  CHECK(ran.answered == 1);
  CHECK(at.notes.empty());
  // At least what this very process has by now.
  REQUIRE(ran.peak_memory);
  CHECK(*ran.peak_memory > 1'000'000);
}

TEST_CASE("a refusal by the backend's filter is no answer to keep: the next run asks again") {
  run_fixture at;
  at.suite(item("a", "yes"));
  at.script(R"({"error":{"code":"refused_content","message":"filtered"}})"
            "\n");
  const auto first = at.run();
  CHECK(first.sent == 1);
  CHECK(first.errors_by_class == std::map<std::string, std::uint64_t>{{"refused_content", 1}});
  at.script(R"({"text":"yes"})"
            "\n");
  const auto again = at.run();
  CHECK(again.reused == 0);
  CHECK(again.sent == 1);
  CHECK(*again.score() == 1);
}

TEST_CASE("a fault that passes costs a retry and no item; each attempt is counted") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes"));
  const std::string broken = R"({"match":"ask b","error":{"code":"truncated","message":"cut"}})"
                             "\n";
  at.script(broken + broken +
            R"({"match":"ask b","text":"yes"})"
            "\n"
            R"({"text":"yes"})"
            "\n");
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.pool.retry.first_delay = std::chrono::milliseconds(1);
  const auto ran = at.run(how);
  CHECK(ran.errors == 0);
  CHECK(*ran.score() == 1);
  CHECK(ran.sent == 4);
  CHECK(ran.retried == 2);
  CHECK(ran.retries_by_class == std::map<std::string, std::uint64_t>{{"truncated", 2}});
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] == "item \"b\" is sent again: cut");
  REQUIRE(ran.endpoints.size() == 1);
  CHECK(ran.endpoints[0].sent == 4);
  CHECK(ran.endpoints[0].failed == 2);
}

TEST_CASE("a run that has seen too many errors stops, and the rest is left for the next") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += item("i" + std::to_string(i), "yes");
  at.suite(lines);
  at.script(R"({"error":{"code":"invalid_request","message":"no such model"}})"
            "\n");
  run::run_options how;
  how.pool.max_in_flight = 1;
  how.pool.max_errors = 4;
  const auto ran = at.run(how);
  CHECK(ran.errors == 5);
  CHECK(ran.not_run == 15);
  CHECK(ran.stopped == "more than 4 items failed; the last: no such model");
}

TEST_CASE("another backend's replies are not reused") {
  run_fixture at;
  at.suite(item("a", "yes"));
  at.script(R"({"text":"no"})"
            "\n");
  CHECK(*at.run().score() == 0);
  at.script(R"({"text":"yes"})"
            "\n");
  const auto other = at.run();
  CHECK(other.reused == 0);
  CHECK(*other.score() == 1);
}

TEST_CASE("a changed request is asked again, a changed target is not") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes"));
  at.script(R"({"text":"yes"})"
            "\n");
  CHECK(*at.run().score() == 1);
  run::run_options hotter;
  hotter.request.defaults.temperature = 0.5;
  CHECK(at.run(hotter).sent == 2);
  // Another target makes another suite: its items are other items, and nothing is taken from the old ones.
  at.suite(item("a", "no") + item("b", "yes"));
  CHECK(*at.run().score() == 0.5);
}

TEST_CASE("that nothing asks for greedy answers is said, since the backend may then sample") {
  run_fixture at;
  at.suite(item("a", "yes"));
  at.script(R"({"text":"yes"})"
            "\n");
  CHECK(at.run().items == 1);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0].find("--temperature 0") != std::string::npos);
}

TEST_CASE("the limit takes the first items of the suite, whatever the plan's order") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes") + item("c", "yes"));
  at.script(R"({"match":"ask c","text":"no"})"
            "\n"
            R"({"text":"yes"})"
            "\n");
  run::run_options how;
  how.limit = 2;
  const auto ran = at.run(how);
  CHECK(ran.items == 2);
  CHECK(ran.sent == 2);
  CHECK(*ran.score() == 1);
}

namespace {

std::string sixty_that_share() {
  std::string lines;
  const std::string shared(2'000, 'x');
  for (int i = 0; i < 60; ++i) {
    const auto id = std::to_string(i);
    lines += R"({"id":")" + id + R"(","prompt":")" + shared + id + R"(","target":"yes"})" + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("planning for a cache that gives nothing is given up, and that is said once") {
  run_fixture at;
  at.suite(sixty_that_share());
  run::run_options greedy;
  greedy.request.defaults.temperature = 0;
  const std::string said =
      "the backend's cache gave less than a tenth of what requests share: the rest goes out ";

  at.script(R"({"text":"yes","usage":{"prompt_tokens":500,"cached_tokens":0,"completion_tokens":1}})"
            "\n");
  CHECK(at.run(greedy).answered == 60);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0].substr(0, said.size()) == said);
}

TEST_CASE("planning goes on where the cache gives what was expected") {
  run_fixture at;
  at.suite(sixty_that_share());
  at.script(R"({"text":"yes","usage":{"prompt_tokens":500,"cached_tokens":490,"completion_tokens":1}})"
            "\n");
  run::run_options greedy;
  greedy.request.defaults.temperature = 0;
  CHECK(at.run(greedy).answered == 60);
  CHECK(at.notes.empty());
}

TEST_CASE("a stop keeps what is done and says what was not run") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += item("i" + std::to_string(i), "yes");
  at.suite(lines);
  at.script(R"({"text":"yes","delay_ms":20})"
            "\n");
  std::stop_source stop;
  at.on_progress = [&](const run::progress& now) {
    if (now.done >= 4) stop.request_stop();
  };
  run::run_options how;
  how.pool.max_in_flight = 2;
  const auto ran = at.run(how, stop.get_token());
  CHECK(ran.interrupted);
  CHECK(ran.answered >= 4);
  CHECK(ran.answered < 20);
  CHECK(ran.errors == 0);
  CHECK(ran.not_run == 20 - ran.answered);
  at.on_progress = nullptr;
  const auto again = at.run(how);
  CHECK(again.reused == ran.answered);
  CHECK(again.answered == 20);
}

namespace {

/// Answers nothing before it is told to, and then everything at once.
class waiting final : public evalcore::backend::backend {
 public:
  explicit waiting(net::loop& owner, std::string text = "yes") : loop_(owner), text_(std::move(text)) {}
  [[nodiscard]] const evalcore::backend::info& about() const override { return info_; }
  [[nodiscard]] evalcore::backend::capabilities can() const override { return {}; }
  evalcore::backend::ticket start(const chat::request& /*request*/,
                                  std::shared_ptr<evalcore::backend::sink> to) override {
    asked_.push_back(std::move(to));
    if (told_) loop_.post([this] { answer(); });
    return ++last_;
  }
  /// Returns when so many are answered.
  void go_on(int until) {
    loop_.run_and_wait([this] {
      told_ = true;
      answer();
    });
    for (int count = answered_; count < until; count = answered_) answered_.wait(count);
    loop_.run_and_wait([] {});  // What they told is with the run now.
  }
  void cancel(evalcore::backend::ticket /*which*/) override {}

 private:
  void answer() {
    for (const auto& to : std::exchange(asked_, {})) {
      chat::reply reply;
      reply.text = text_;
      reply.finish = chat::finish_reason::stop;
      to->on_end(std::move(reply));
      answered_ += 1;
      answered_.notify_all();
    }
  }

  net::loop& loop_;
  std::string text_;
  evalcore::backend::info info_;
  evalcore::backend::ticket last_ = 0;
  bool told_ = false;
  std::vector<std::shared_ptr<evalcore::backend::sink>> asked_;
  std::atomic<int> answered_ = 0;
};

}  // namespace

TEST_CASE("what came while the host was busy is committed at once") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += item("i" + std::to_string(i), "yes");
  at.suite(lines);
  net::loop loop;
  waiting backend(loop);
  std::vector<std::size_t> commits;
  at.on_progress = [&](const run::progress&) {
    commits.push_back(test::commits_in_log(at.path("run.db")));
    if (commits.size() == 1) backend.go_on(60);
  };
  CHECK(at.run_on(loop, backend, {}).answered == 60);
  REQUIRE(commits.size() >= 2);
  // A flush between the two, on a slow machine, begins the log anew.
  CHECK((commits[1] == commits[0] + 1 || commits[1] == 1));
}

TEST_CASE("a slow scorer keeps no reply waiting for its commit until all that came are scored") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += R"({"id":"i)" + std::to_string(i) +
             R"(","messages":[{"role":"user","content":"?"}],"target":"x",)"
             R"("scorer":{"name":"regex","pattern":"(?=a)(a|aa)+$"}})"
             "\n";
  }
  at.suite(lines);
  net::loop loop;
  waiting backend(loop, std::string(60, 'a') + "b");  // Takes the pattern to its last step.
  std::set<std::uint64_t> told;
  at.on_progress = [&](const run::progress& now) {
    if (told.insert(now.done).second && told.size() == 1) backend.go_on(40);
  };
  const auto ran = at.run_on(loop, backend, {});
  CHECK(ran.answered == 40);
  CHECK(ran.unscored == 40);
  CHECK(told.size() >= 4);
}

namespace {

/// 1 USD for a million tokens of any kind.
constexpr run::price flat{1'000'000, 1'000'000, 1'000'000, 1'000'000, 1'000'000};

constexpr run::pico_usd tokens(std::uint64_t count) { return count * 1'000'000; }

/// One at a time, in the suite's order, with answers of up to 100 tokens.
run::run_options priced() {
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.request.defaults.max_tokens = 100;
  how.pool.max_in_flight = 1;
  how.pool.retry.retries = 0;
  how.suite_order = true;
  how.price = flat;
  return how;
}

const std::string forty_tokens = R"({"text":"yes","usage":{"prompt_tokens":30,"completion_tokens":10}})"
                                 "\n";

}  // namespace

TEST_CASE("what a run costs is counted, and what earlier runs spent comes from the store") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes"));
  at.script(R"({"match":"ask b","error":{"code":"truncated","message":"broke off"}})"
            "\n" +
            forty_tokens);
  const auto first = at.run(priced());
  REQUIRE(first.cost);
  // a: 40 tokens. b may be on the bill, with what its text can be at most and 100 tokens of an answer.
  CHECK(first.cost->sent.least == tokens(40));
  REQUIRE(first.cost->sent.most);
  CHECK(*first.cost->sent.most > tokens(140));
  CHECK(*first.cost->sent.most < tokens(340));
  CHECK(first.cost->spent == first.cost->sent);

  at.script(forty_tokens);  // Another script is another backend, whose costs are its own.
  const auto other = at.run(priced());
  CHECK(other.sent == 2);
  CHECK(other.cost->spent == run::cost{tokens(80), tokens(80)});
  const auto again = at.run(priced());
  CHECK(again.reused == 2);
  CHECK(again.cost->sent == run::cost{0, 0});
  CHECK(again.cost->spent == run::cost{tokens(80), tokens(80)});
}

TEST_CASE("replies of a run without prices are priced when they are reused") {
  run_fixture at;
  at.suite(item("a", "yes") + item("b", "yes"));
  at.script(forty_tokens);
  auto how = priced();
  how.price.reset();
  CHECK_FALSE(at.run(how).cost);
  const auto again = at.run(priced());
  CHECK(again.sent == 0);
  CHECK(again.cost->spent == run::cost{tokens(80), tokens(80)});
}

TEST_CASE("a run sends nothing more once it could cost too much, and a dearer one goes on from there") {
  run_fixture at;
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += item("i" + std::to_string(i), "yes");
  at.suite(lines);
  at.script(forty_tokens);
  auto how = priced();
  how.max_cost = tokens(400);
  const auto stopped = at.run(how);
  CHECK(stopped.answered > 0);
  CHECK(stopped.answered < 10);
  CHECK(stopped.not_run == 10 - stopped.answered);
  CHECK(*stopped.cost->spent.most <= tokens(400));
  CHECK(stopped.cost->spent.least == tokens(40 * stopped.answered));
  CHECK(stopped.stopped.find(
            "the next request could cost more than what --max-cost 0.000400 USD leaves after") == 0);
  // Earlier costs count: the same bound has no room.
  CHECK(at.run(how).sent == 0);
  how.max_cost = tokens(1000);
  const auto done = at.run(how);
  CHECK(done.reused == stopped.answered);
  CHECK(done.answered == 10);
  CHECK(done.stopped.empty());
  CHECK(done.cost->spent == run::cost{tokens(400), tokens(400)});
}

TEST_CASE("a bound on the cost is refused where an item's cost has none") {
  const test::temporary_folder folder;
  const auto suite = run::suite::open(folder.write("suite.jsonl", item("a", "yes")));
  REQUIRE(suite);
  net::loop loop;
  picky to;
  auto store = run::store::open(folder / "run.db");
  REQUIRE(store);
  auto how = priced();
  how.max_cost = tokens(1000);
  how.request.defaults.max_tokens.reset();
  const run::observer watch{[](const std::string&) {}, [](const run::progress&) {}};
  const auto ran = run::run_suite(*suite, loop, {&to}, *store, how, watch, {});
  REQUIRE_FALSE(ran);
  CHECK(ran.error().at == stage::config);
  CHECK(ran.error().message ==
        "what item \"a\" can cost has no bound, which --max-cost needs: give --max-tokens, or the item "
        "`max_tokens`");
}
