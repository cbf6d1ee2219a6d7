#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/pool/pool.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

/// Answers from the loop after `delay`: a first token, then a reply whose text is the model's name. A
/// request for the model "stall" is never answered, "fail" gets an error, and "flaky" while faults are left;
/// "say" tells text as it comes.
class fake_backend final : public backend::backend {
 public:
  explicit fake_backend(net::loop& owner) : loop_(owner) {}

  const ::evalcore::backend::info& about() const override { return info_; }
  ::evalcore::backend::capabilities can() const override { return {}; }

  ::evalcore::backend::ticket start(const chat::request& request,
                                    std::shared_ptr<::evalcore::backend::sink> to) override {
    const auto ticket = ++last_ticket_;
    open_.emplace(ticket, std::move(to));
    most_open = std::max(most_open.load(), open_.size());
    if (request.model == "stall") return ticket;
    loop_.after(delay, [this, ticket, model = request.model] {
      if (!open_.contains(ticket)) return;
      open_.at(ticket)->on_first_token(std::chrono::steady_clock::now());
      if (model != "say") return;
      open_.at(ticket)->on_text("one ");
      open_.at(ticket)->on_text("two");
    });
    loop_.after(2 * delay, [this, ticket, model = request.model] {
      if (model == "fail") return end(ticket, fail(errc::invalid_request, stage::body, "wrong"));
      if (model == "flaky" && faults_left > 0) {
        --faults_left;
        auto why = fail(errc::backend_fault, stage::body, "broken");
        why.retry_after = retry_after;
        return end(ticket, why);
      }
      chat::reply reply;
      reply.text = model;
      end(ticket, reply);
    });
    return ticket;
  }
  void cancel(::evalcore::backend::ticket which) override {
    loop_.post([this, which] { end(which, fail(errc::cancelled, stage::body, "cancelled")); });
  }
  void share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                    std::function<void(result<void>)> done) override {
    shares.emplace_back(from, std::move(to));
    if (share_fails) {
      done(fail(errc::unsupported, stage::start, "no"));  // At once, as the base class does.
    } else if (!share_stalls) {
      loop_.after(delay, [done = std::move(done)] { done({}); });
    } else {
      stalled_ = std::move(done);
    }
  }

  duration delay = 0ms;
  int faults_left = 0;
  std::optional<std::chrono::milliseconds> retry_after;  ///< Of those faults.
  bool share_fails = false;
  bool share_stalls = false;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> shares;
  std::atomic<std::size_t> most_open = 0;

 private:
  void end(::evalcore::backend::ticket which, result<chat::reply> outcome) {
    const auto found = open_.find(which);
    if (found == open_.end()) return;
    const auto sink = std::move(found->second);
    open_.erase(found);
    sink->on_end(std::move(outcome));
  }

  net::loop& loop_;
  ::evalcore::backend::info info_;
  std::map<::evalcore::backend::ticket, std::shared_ptr<::evalcore::backend::sink>> open_;
  ::evalcore::backend::ticket last_ticket_ = 0;
  std::function<void(result<void>)> stalled_;
};

/// Hands out what it was given, then is exhausted.
class list_source final : public pool::source {
 public:
  pool::pull next() override {
    if (next_ == entries.size()) return pool::exhausted{};
    if (const auto* held = std::get_if<pool::hold>(&entries[next_]); held != nullptr && holds_left > 0) {
      --holds_left;
      return *held;
    }
    if (std::holds_alternative<pool::hold>(entries[next_])) ++next_;
    if (next_ == entries.size()) return pool::exhausted{};
    return entries[next_++];
  }
  void on_first_token(pool::item_id) override { ++first_tokens; }
  void on_end(pool::item_id id, const result<chat::reply>&) override { ended.push_back(id); }
  void on_pause(bool paused) override { pauses.push_back(paused); }
  void on_shared(const result<void>& outcome) override { shared.push_back(outcome.has_value()); }

  void add(pool::item_id id, const std::string& model) {
    pool::work one{.id = id, .request = {}};
    one.request.model = model;
    entries.emplace_back(std::move(one));
  }

  std::vector<pool::pull> entries;
  int holds_left = 0;  ///< How often the holds in the list are answered before they are passed.
  int first_tokens = 0;
  std::vector<pool::item_id> ended;
  std::vector<bool> shared;
  std::vector<bool> pauses;

 private:
  std::size_t next_ = 0;
};

/// Is given its items while the pool runs.
class fed_source final : public pool::source {
 public:
  pool::pull next() override {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return pool::later{};
    pool::work one{.id = waiting_.front().first, .request = {}};
    one.request.model = waiting_.front().second;
    waiting_.pop_front();
    return one;
  }
  void on_end(pool::item_id, const result<chat::reply>&) override {}

  void feed(pool::item_id id, const std::string& model) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(id, model);
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<pool::item_id, std::string>> waiting_;
};

struct seen {
  std::map<pool::item_id, int> started;
  std::map<pool::item_id, int> first_tokens;
  std::map<pool::item_id, int> retries;
  std::map<pool::item_id, result<chat::reply>> ended;
  std::optional<error> failure;

  std::size_t count(errc code) const {
    std::size_t n = 0;
    for (const auto& [id, outcome] : ended) n += !outcome && outcome.error().code == code ? 1U : 0U;
    return n;
  }
};

/// Reads events until drained, checking their order.
seen read_all(pool::pool& from, const std::function<void(const pool::event&)>& at = {}) {
  seen out;
  while (true) {
    auto event = from.poll(30s);
    REQUIRE(event);
    if (at) at(*event);
    if (event->what == pool::event::kind::started) {
      REQUIRE_FALSE(out.ended.contains(event->id));
      REQUIRE(++out.started[event->id] == static_cast<int>(event->attempt));
    } else if (event->what == pool::event::kind::first_token) {
      REQUIRE_FALSE(out.ended.contains(event->id));
      REQUIRE(++out.first_tokens[event->id] <= out.started.at(event->id));
    } else if (event->what == pool::event::kind::retrying) {
      REQUIRE_FALSE(out.ended.contains(event->id));
      REQUIRE_FALSE(*event->outcome);
      ++out.retries[event->id];
    } else if (event->what == pool::event::kind::ended) {
      REQUIRE(event->outcome);
      REQUIRE(out.ended.emplace(event->id, *event->outcome).second);
    } else if (event->what == pool::event::kind::text) {
      REQUIRE_FALSE(out.ended.contains(event->id));
    } else {
      if (event->outcome) out.failure = event->outcome->error();
      for (const auto& [id, attempts] : out.started) REQUIRE(out.ended.contains(id));
      REQUIRE_FALSE(from.poll(0ms));
      return out;
    }
  }
}

}  // namespace

TEST_CASE("every item is started and ended once, within the bound, drained last") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  for (pool::item_id id = 0; id < 200; ++id) source.add(id, id % 10 == 3 ? "fail" : "m" + std::to_string(id));
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 7});
  pool.start();
  const seen all = read_all(pool);
  CHECK_FALSE(all.failure);
  REQUIRE(all.ended.size() == 200);
  CHECK(all.count(errc::invalid_request) == 20);
  CHECK(all.ended.at(42).value().text == "m42");
  CHECK(all.first_tokens.size() == 200);
  CHECK(backend.most_open == 7);
  loop.run_and_wait([&] {
    CHECK(source.ended.size() == 200);
    CHECK(source.first_tokens == 200);
  });
}

TEST_CASE("items that come while the pool runs are sent, and one that stalls can be cancelled alone") {
  net::loop loop;
  fake_backend backend(loop);
  fed_source source;
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 2});
  pool.start();
  CHECK_FALSE(pool.poll(0ms));
  source.feed(1, "first");
  source.feed(2, "stall");
  pool.look_again();
  std::map<pool::item_id, std::string> texts;
  const auto read = read_all(pool, [&](const pool::event& event) {
    if (event.what != pool::event::kind::ended) return;
    texts[event.id] =
        *event.outcome ? (*event.outcome)->text : std::string(name(event.outcome->error().code));
    if (event.id == 1) {
      source.feed(3, "third");
      pool.look_again();
    } else if (event.id == 3) {
      pool.cancel(2);
    } else {
      pool.drain();
    }
  });
  CHECK_FALSE(read.failure);
  CHECK(texts == std::map<pool::item_id, std::string>{{1, "first"}, {2, "cancelled"}, {3, "third"}});
}

TEST_CASE("a fault that passes is sent again with the same request, and the host sees each attempt") {
  net::loop loop;
  fake_backend backend(loop);
  backend.faults_left = 3;
  list_source source;
  source.add(1, "flaky");
  pool::options how;
  how.retry.first_delay = 1ms;
  pool::pool pool(loop, {&backend}, source, how);
  pool.start();
  const seen all = read_all(pool);
  CHECK(all.started.at(1) == 4);
  CHECK(all.retries.at(1) == 3);
  CHECK(all.ended.at(1).value().text == "flaky");
  const auto figures = pool.figures();
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].sent == 4);
  CHECK(figures[0].answered == 1);
  CHECK(figures[0].failed == 3);
  loop.run_and_wait([&] { CHECK(source.ended == std::vector<pool::item_id>{1}); });
}

TEST_CASE("a source hears that its only endpoint asked for a pause, and that it is over") {
  net::loop loop;
  fake_backend backend(loop);
  backend.faults_left = 1;
  backend.retry_after = 1ms;
  list_source source;
  source.add(1, "flaky");
  pool::options how;
  how.retry.first_delay = 1ms;
  pool::pool pool(loop, {&backend}, source, how);
  pool.start();
  const seen all = read_all(pool);
  CHECK(all.ended.at(1).has_value());
  loop.run_and_wait([&] { CHECK(source.pauses == std::vector<bool>{true, false}); });
}

TEST_CASE("an item that its source refuses ends without being sent") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.entries.emplace_back(
      pool::refused{.id = 1, .why = fail(errc::context_overflow, stage::send, "long")});
  source.add(2, "m");
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  const seen all = read_all(pool);
  CHECK(all.ended.at(1).error().code == errc::context_overflow);
  CHECK_FALSE(all.started.contains(1));
  CHECK(all.ended.at(2).has_value());
}

TEST_CASE("cancel_all ends what waits for a retry, too") {
  net::loop loop;
  fake_backend backend(loop);
  backend.faults_left = 1;
  list_source source;
  source.add(1, "flaky");
  pool::options how;
  how.retry.first_delay = 1h;
  pool::pool pool(loop, {&backend}, source, how);
  pool.start();
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::retrying) pool.cancel_all();
  });
  CHECK(all.ended.at(1).error().code == errc::cancelled);
}

TEST_CASE("cancel_all half-way ends what is in flight and starts nothing more") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  for (pool::item_id id = 0; id < 200; ++id) source.add(id, id < 50 ? "m" : "stall");
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 8});
  pool.start();
  // Everything before the first stalled one is answered; then all eight places stall.
  std::size_t ended = 0;
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::ended && ++ended == 50) pool.cancel_all();
  });
  CHECK_FALSE(all.failure);
  const std::size_t cancelled = all.count(errc::cancelled);
  CHECK(cancelled >= 1);
  CHECK(cancelled <= 8);
  CHECK(all.ended.size() == 50 + cancelled);
}

TEST_CASE("drain lets what is in flight end") {
  net::loop loop;
  fake_backend backend(loop);
  backend.delay = 1ms;
  list_source source;
  for (pool::item_id id = 0; id < 100'000; ++id) source.add(id, "m");
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 4});
  pool.start();
  std::size_t ended = 0;
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::ended && ++ended == 10) pool.drain();
  });
  CHECK(all.count(errc::cancelled) == 0);
  CHECK(all.ended.size() >= 10);
  CHECK(all.ended.size() < 100'000);
}

TEST_CASE("a source that holds is asked again when something happened") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.add(1, "leader");
  source.entries.emplace_back(pool::hold{});
  source.holds_left = 1;
  source.add(2, "follower");
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  const seen all = read_all(pool);
  CHECK_FALSE(all.failure);
  CHECK(all.ended.size() == 2);
}

TEST_CASE("a source that holds for ever ends the run with an error") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.add(1, "m");
  source.entries.emplace_back(pool::hold{});
  source.holds_left = 1'000'000;
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  const seen all = read_all(pool);
  REQUIRE(all.failure);
  CHECK(all.failure->code == errc::internal);
  CHECK(all.ended.at(1).has_value());
}

TEST_CASE("a share goes to the backend, and the source hears how it went") {
  for (const bool fails : {false, true}) {
    net::loop loop;
    fake_backend backend(loop);
    backend.share_fails = fails;
    list_source source;
    source.add(1, "m");
    source.entries.emplace_back(pool::share_prefix{.from = 0, .to = {1, 2}});
    source.add(2, "m");
    pool::pool pool(loop, {&backend}, source, {});
    pool.start();
    const seen all = read_all(pool);
    CHECK(all.ended.size() == 2);
    loop.run_and_wait([&] {
      CHECK(backend.shares == std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>{{0, {1, 2}}});
      CHECK(source.shared == std::vector<bool>{!fails});
    });
  }
}

TEST_CASE("cancel_all does not wait for a share that stalls") {
  net::loop loop;
  fake_backend backend(loop);
  backend.share_stalls = true;
  list_source source;
  source.add(1, "m");
  source.entries.emplace_back(pool::share_prefix{.from = 0, .to = {1}});
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::ended) pool.cancel_all();
  });
  CHECK(all.ended.at(1).has_value());
  loop.run_and_wait([&] { CHECK(source.shared.empty()); });
}

TEST_CASE("the total deadline ends a stalled item as a time-out and its place is used again") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.add(1, "stall");
  source.add(2, "m");
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 1, .total_deadline = 20ms});
  const auto before = std::chrono::steady_clock::now();
  pool.start();
  const seen all = read_all(pool);
  CHECK(std::chrono::steady_clock::now() - before >= 20ms);
  REQUIRE_FALSE(all.ended.at(1));
  CHECK(all.ended.at(1).error().code == errc::timeout);
  CHECK(all.ended.at(1).error().message.find("0.02") != std::string::npos);
  CHECK(all.ended.at(2).has_value());
}

TEST_CASE("the destructor cancels and waits, started or not") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  for (pool::item_id id = 0; id < 10; ++id) source.add(id, "stall");
  {
    const pool::pool never_started(loop, {&backend}, source, {});
  }
  {
    pool::pool pool(loop, {&backend}, source, {.max_in_flight = 3});
    pool.start();
    while (pool.poll(30s)->id != 2) continue;
  }
  loop.run_and_wait([&] { CHECK(source.ended.size() == 3); });
}

TEST_CASE("wake unblocks a poll, whichever comes first") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  pool::pool pool(loop, {&backend}, source, {});
  pool.wake();
  CHECK_FALSE(pool.poll(std::chrono::milliseconds::max()));
  std::thread other([&] { pool.wake(); });
  CHECK_FALSE(pool.poll(std::chrono::milliseconds::max()));
  other.join();
  CHECK_FALSE(pool.poll(1ms));
}

TEST_CASE("a bound that is raised while running is used") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  for (pool::item_id id = 0; id < 6; ++id) source.add(id, "stall");
  pool::pool pool(loop, {&backend}, source, {.max_in_flight = 2});
  pool.start();
  std::size_t started = 0;
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what != pool::event::kind::started) return;
    if (++started == 2) pool.set_max_in_flight(5);
    if (started == 5) pool.cancel_all();
  });
  CHECK(backend.most_open == 5);
  CHECK(all.count(errc::cancelled) == 5);
}

TEST_CASE("events that go to a sink come on the loop, in order, and not to poll") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.add(1, "a");
  source.add(2, "stall");
  std::vector<std::string> told;
  bool on_loop = true;
  std::promise<void> drained;
  pool::pool pool(loop, {&backend}, source, {});
  pool.deliver_to([&](const pool::event& one) {
    using kind = pool::event::kind;
    on_loop = on_loop && loop.in_loop();
    if (one.what == kind::ended) {
      told.push_back((*one.outcome ? "answered " : "failed ") + std::to_string(one.id));
      if (one.id == 1) pool.cancel_all();
    }
    if (one.what == kind::drained) drained.set_value();
  });
  pool.start();
  REQUIRE(drained.get_future().wait_for(30s) == std::future_status::ready);
  CHECK(on_loop);
  CHECK(told == std::vector<std::string>{"answered 1", "failed 2"});
  CHECK_FALSE(pool.poll(0ms));
}

TEST_CASE("a pool with a sink that is destroyed amid its work tells the sink of each end first") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  for (pool::item_id id = 1; id <= 3; ++id) source.add(id, "stall");
  int ends = 0;
  std::promise<void> all_out;
  {
    int started = 0;
    pool::pool pool(loop, {&backend}, source, {});
    pool.deliver_to([&](const pool::event& one) {
      if (one.what == pool::event::kind::started && ++started == 3) all_out.set_value();
      if (one.what == pool::event::kind::ended) ++ends;
    });
    pool.start();
    REQUIRE(all_out.get_future().wait_for(30s) == std::future_status::ready);
  }
  CHECK(ends == 3);
}

TEST_CASE("text is told as it comes to those who want it, and to no others") {
  net::loop loop;
  fake_backend backend(loop);
  list_source source;
  source.add(1, "say");
  source.add(2, "say");
  std::get<pool::work>(source.entries[1]).wants_text = true;
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  std::map<pool::item_id, std::string> texts;
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::text) texts[event.id] += event.text;
  });
  CHECK(texts == std::map<pool::item_id, std::string>{{2, "one two"}});
  CHECK(all.ended.size() == 2);
}

namespace {

/// The likelihood of a continuation is minus its length; "broken" has none, "flaky" only the second time,
/// "stall" never.
class scoring_backend final : public backend::backend {
 public:
  explicit scoring_backend(net::loop& owner) : loop_(owner) {}
  const ::evalcore::backend::info& about() const override { return info_; }
  ::evalcore::backend::capabilities can() const override { return {}; }
  ::evalcore::backend::ticket start(const chat::request&,
                                    std::shared_ptr<::evalcore::backend::sink>) override {
    return 1;
  }
  void cancel(::evalcore::backend::ticket) override {}
  void loglikelihood(const chat::loglikelihood_request& request,
                     std::function<void(result<chat::loglikelihood>)> done) override {
    const auto& text = std::get<std::string>(request.continuation);
    if (text == "stall") return stalled_.push_back(std::move(done));
    if (text == "broken") return done(fail(errc::unsupported, stage::send, "no"));  // Within the call.
    const bool fails = text == "flaky" && !std::exchange(was_asked_, true);
    loop_.after(1ms * (10 - static_cast<int>(text.size())), [done = std::move(done), text, fails] {
      if (fails) return done(fail(errc::transport, stage::body, "reset"));
      done(chat::loglikelihood{.sum_logprob = -static_cast<double>(text.size()), .tokens = 1});
    });
  }

 private:
  net::loop& loop_;
  ::evalcore::backend::info info_;
  bool was_asked_ = false;
  std::vector<std::function<void(result<chat::loglikelihood>)>> stalled_;
};

pool::work scores_of(pool::item_id id, const std::vector<std::string>& continuations) {
  pool::work made{.id = id, .request = {}};
  for (const auto& one : continuations) {
    made.scores.push_back({.model = {}, .context = std::string("c"), .continuation = one, .hints = {}});
  }
  return made;
}

}  // namespace

TEST_CASE("scores of one item come together, in their order, and fail together") {
  net::loop loop;
  scoring_backend backend(loop);
  list_source source;
  source.entries.emplace_back(scores_of(1, {"a", "bbb", "cc"}));
  source.entries.emplace_back(scores_of(2, {"a", "broken"}));
  source.entries.emplace_back(scores_of(3, {"flaky", "a"}));
  pool::pool pool(loop, {&backend}, source, {.retry = {.first_delay = 1ms}});
  pool.start();
  std::map<pool::item_id, std::vector<double>> sums;
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what != pool::event::kind::ended || !*event.outcome) return;
    for (const auto& one : (*event.outcome)->choices) sums[event.id].push_back(one.sum_logprob);
  });
  CHECK(sums == std::map<pool::item_id, std::vector<double>>{{1, {-1, -3, -2}}, {3, {-5, -1}}});
  CHECK(all.ended.at(2).error().code == errc::unsupported);
  CHECK(all.retries.at(3) == 1);
}

TEST_CASE("scores that a backend is slow with are cancelled at once") {
  net::loop loop;
  scoring_backend backend(loop);
  list_source source;
  source.entries.emplace_back(scores_of(1, {"a", "stall"}));
  pool::pool pool(loop, {&backend}, source, {});
  pool.start();
  const seen all = read_all(pool, [&](const pool::event& event) {
    if (event.what == pool::event::kind::started) pool.cancel(1);
  });
  CHECK(all.count(errc::cancelled) == 1);
}
