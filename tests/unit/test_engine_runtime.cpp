// The thread around the scheduler, and the threads of a host around that.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/engine/runtime.hpp>
#include <evalcore/engine/simulated.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

/// What a test and an engine on its thread tell each other.
struct witness {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> callers;  ///< Of all that belongs on the engine's thread.
  std::uint64_t steps = 0;
  std::optional<std::uint64_t> hold_at;  ///< That step waits: for an interruption, or until it is let go.
  bool hears_interrupts = true;
  bool holding = false;
  bool interrupted = false;
  bool throws = false;
  std::int64_t snapshots_at_end = -1;

  void note() {
    const std::lock_guard held(mutex);
    callers.insert(std::this_thread::get_id());
  }
  /// Until the engine is in the step that waits.
  void await_hold() {
    std::unique_lock held(mutex);
    changed.wait(held, [this] { return holding; });
  }
  void let_go() {
    const std::lock_guard held(mutex);
    interrupted = true;
    changed.notify_all();
  }
};

class real_engine final : public engine::step_engine {
 public:
  explicit real_engine(std::shared_ptr<witness> seen, engine::simulated_options how = {})
      : seen_(std::move(seen)), model_(std::move(how), clock_) {
    seen_->note();
  }
  ~real_engine() override {
    seen_->note();
    const std::lock_guard held(seen_->mutex);
    seen_->snapshots_at_end = model_.live_snapshots();
  }
  real_engine(const real_engine&) = delete;
  real_engine& operator=(const real_engine&) = delete;

  [[nodiscard]] const engine::traits& about() const override { return model_.about(); }
  [[nodiscard]] result<engine::rendered> render(const chat::request& request) override {
    seen_->note();
    return model_.render(request);
  }
  [[nodiscard]] result<std::vector<engine::token>> tokenize(std::string_view text, bool special) override {
    seen_->note();
    return model_.tokenize(text, special);
  }
  [[nodiscard]] result<engine::row_id> open(engine::row_request asked) override {
    seen_->note();
    return model_.open(std::move(asked));
  }
  [[nodiscard]] result<void> step(std::uint32_t max_width, engine::step_output& out) override {
    seen_->note();
    {
      std::unique_lock held(seen_->mutex);
      if (seen_->throws) throw std::runtime_error("out of its depth");
      if (++seen_->steps == seen_->hold_at) {
        seen_->holding = true;
        seen_->changed.notify_all();
        seen_->changed.wait(held, [this] { return seen_->interrupted; });
      }
    }
    return model_.step(max_width, out);
  }
  [[nodiscard]] bool remove(engine::row_id row) override {
    seen_->note();
    return model_.remove(row);
  }
  void interrupt() noexcept override {
    if (seen_->hears_interrupts) seen_->let_go();
  }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override {
    seen_->note();
    return model_.snapshot_bytes(tokens);
  }
  [[nodiscard]] result<std::shared_ptr<const engine::snapshot>> take_snapshot(engine::row_id row) override {
    seen_->note();
    return model_.take_snapshot(row);
  }
  [[nodiscard]] engine::memory_report memory() const override {
    seen_->note();
    return model_.memory();
  }

 private:
  std::shared_ptr<witness> seen_;
  engine::virtual_clock clock_;
  engine::simulated_engine model_;
};

std::unique_ptr<engine::runtime> start(const std::shared_ptr<witness>& seen, engine::options how = {},
                                       std::optional<std::uint32_t> safe_width = {},
                                       bool keep_prefixes = true) {
  how.batch_wait_ms = 0;
  auto made = engine::runtime::start(
      [=]() -> result<engine::loaded_engine> {
        return engine::loaded_engine{std::make_unique<real_engine>(seen), safe_width, keep_prefixes};
      },
      how);
  REQUIRE(made);
  return *std::move(made);
}

engine::request asking(std::string prompt, std::uint32_t max_tokens = 8) {
  engine::request made;
  made.prompt = std::move(prompt);
  made.max_tokens = max_tokens;
  return made;
}

struct whole {
  std::string text;
  std::optional<result<engine::answer>> end;
  int ends = 0;
};

/// Reads to the end, or gives up where nothing comes.
whole read_all(engine::stream& from) {
  whole made;
  engine::stream::reading got;
  while (!made.end && from.read(got, 60s)) {
    for (const auto& one : got.records) {
      if (const auto* piece = std::get_if<engine::piece>(&one)) made.text += piece->text;
    }
    if (got.end) {
      made.end = std::move(got.end);
      ++made.ends;
    }
  }
  return made;
}

std::string refusal_of(const whole& read) { return read.end && !*read.end ? read.end->error().detail : ""; }

/// What the simulated engine answers, without any of this.
std::string alone(const std::string& prompt, std::size_t tokens) {
  engine::virtual_clock clock;
  engine::simulated_engine model({}, clock);
  engine::row_request asked;
  asked.prompt = *model.tokenize(prompt, true);
  asked.max_tokens = static_cast<std::uint32_t>(tokens);
  static_cast<void>(*model.open(std::move(asked)));
  std::string text;
  engine::step_output out;
  while (text.size() < tokens) {
    REQUIRE(model.step(1, out));
    for (const auto& one : out.tokens) text += one.text;
  }
  return text;
}

}  // namespace

TEST_CASE("one thread makes, drives and destroys the engine, and it is none of the host's") {
  const auto seen = std::make_shared<witness>();
  {
    const auto running = start(seen);
    auto asked = running->submit(asking("hello"));
    REQUIRE(asked);
    auto keyed = asking(std::string(40, 'k'));
    keyed.share = engine::prefix_sharing{.key = "k"};
    auto kept = running->submit(keyed);
    REQUIRE(kept);
    CHECK(read_all(**asked).text == alone("hello", 8));
    CHECK(read_all(**kept).end->has_value());
    CHECK(running->prefix_stats().stores == 1);
  }
  CHECK(seen->callers.size() == 1);
  CHECK(!seen->callers.contains(std::this_thread::get_id()));
  CHECK(seen->snapshots_at_end == 0);
}

TEST_CASE("threads that ask side by side get the answers that each gets alone") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen, {.max_batch_size = 6, .max_queue_size = 100});
  std::vector<whole> answers(24);
  {
    std::vector<std::jthread> hosts;
    for (std::size_t host = 0; host < 4; ++host) {
      hosts.emplace_back([&, host] {
        for (std::size_t at = host; at < answers.size(); at += 4) {
          auto asked = running->submit(asking("prompt " + std::to_string(at), 20));
          if (asked) answers[at] = read_all(**asked);
        }
      });
    }
  }
  for (std::size_t at = 0; at < answers.size(); ++at) {
    CHECK(answers[at].text == alone("prompt " + std::to_string(at), 20));
    CHECK(answers[at].ends == 1);
  }
  CHECK(running->stats().completed == 24);
}

TEST_CASE("a cancellation wakes a blocked reader and interrupts the step under way") {
  const auto seen = std::make_shared<witness>();
  seen->hold_at = 3;
  const auto running = start(seen);
  auto asked = running->submit(asking("a", 100));
  auto other = running->submit(asking("b", 10));
  REQUIRE(asked);
  REQUIRE(other);
  whole read;
  {
    std::jthread reader([&] { read = read_all(**asked); });
    seen->await_hold();
    (*asked)->cancel();
  }
  CHECK(refusal_of(read) == "cancelled");
  CHECK(seen->interrupted);
  CHECK(read_all(**other).text == alone("b", 10));
}

TEST_CASE("a stop token cancels its request, before it is admitted and after") {
  const auto seen = std::make_shared<witness>();
  seen->hold_at = 2;
  const auto running = start(seen);
  std::stop_source source;
  auto asked = running->submit(asking("a", 100), {.stop = source.get_token()});
  REQUIRE(asked);
  seen->await_hold();
  source.request_stop();
  CHECK(refusal_of(read_all(**asked)) == "cancelled");
  const auto late = running->submit(asking("b"), {.stop = source.get_token()});
  REQUIRE(!late);
  CHECK(late.error().detail == "cancelled");
  CHECK(running->stats().submitted == 1);
}

TEST_CASE("a stream that is dropped frees its row") {
  const auto seen = std::make_shared<witness>();
  seen->hold_at = 2;
  const auto running = start(seen, {.max_batch_size = 1});
  auto dropped = running->submit(asking("a", 1'000'000));
  REQUIRE(dropped);
  seen->await_hold();
  auto next = running->submit(asking("b"));
  REQUIRE(next);
  *dropped = nullptr;
  CHECK(read_all(**next).text == alone("b", 8));
  CHECK(running->stats().cancelled == 1);
}

TEST_CASE("a host that sleeps is woken and reads without waiting") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen);
  struct bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool ringing = false;
  };
  const auto one = std::make_shared<bell>();
  auto asked = running->submit(asking("a", 20), {.stop = {}, .wake = [one] {
                                                   const std::lock_guard held(one->mutex);
                                                   one->ringing = true;
                                                   one->rung.notify_one();
                                                 }});
  REQUIRE(asked);
  std::string text;
  engine::stream::reading got;
  bool ended = false;
  while (!ended) {
    {
      std::unique_lock held(one->mutex);
      REQUIRE(one->rung.wait_for(held, 60s, [&] { return one->ringing; }));
      one->ringing = false;
    }
    while ((*asked)->read(got)) {
      for (const auto& each : got.records) text += std::get<engine::piece>(each).text;
      ended = got.end.has_value();
    }
  }
  CHECK(text == alone("a", 20));
  CHECK(!(*asked)->read(got, 60s));
}

TEST_CASE("a control runs on the engine's thread, at once within another, and its failures are its own") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen);
  std::size_t tokens = 0;
  const auto outcome = running->control([&](engine::step_engine& model) -> result<void> {
    tokens = model.tokenize("abc", true)->size();
    return running->control([&](engine::step_engine&) -> result<void> { return {}; });
  });
  CHECK(outcome.has_value());
  CHECK(tokens == 3);
  const auto thrown =
      running->control([](engine::step_engine&) -> result<void> { throw std::runtime_error("not today"); });
  REQUIRE(!thrown);
  CHECK(thrown.error().message == "the engine threw: not today");
  const auto refused = running->control(
      [](engine::step_engine&) -> result<void> { return fail(errc::not_found, stage::body, "nothing"); });
  CHECK(refused.error().code == errc::not_found);
  auto asked = running->submit(asking("a"));
  CHECK(read_all(**asked).end->has_value());
  CHECK(seen->callers.size() == 1);
}

TEST_CASE("a task or a call that wakes may be the last owner of a stream") {
  const auto seen = std::make_shared<witness>();
  auto running = start(seen);
  const auto submitted = [&](std::function<void()> wake = {}) {
    auto given = running->submit(asking("a", 1'000'000), {.stop = {}, .wake = std::move(wake)});
    REQUIRE(given);
    return std::shared_ptr<engine::stream>(*std::move(given));
  };
  const auto owns = [](std::shared_ptr<engine::stream> one) {
    return [one = std::move(one)](engine::step_engine*) {};
  };
  REQUIRE(running->post(owns(submitted())));
  REQUIRE(running->control([](engine::step_engine&) -> result<void> { return {}; }));

  struct gate {
    std::promise<void> entered;
    std::promise<void> left;
  };
  const auto once = std::make_shared<gate>();
  auto left = once->left.get_future();
  auto dropped = submitted([once, first = true, one = submitted(), left = left.share()]() mutable {
    if (std::exchange(first, false)) once->entered.set_value();
    left.wait();
  });
  once->entered.get_future().wait();
  dropped.reset();
  once->left.set_value();
  auto asked = running->submit(asking("b"));
  REQUIRE(asked);
  CHECK(read_all(**asked).text == alone("b", 8));

  seen->hold_at = seen->steps + 1;
  auto held = submitted();
  seen->await_hold();
  REQUIRE(running->post(owns(submitted())));
  running.reset();
}

TEST_CASE("kept prefixes are cleared between requests") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen);
  auto keyed = asking(std::string(40, 'k'));
  keyed.share = engine::prefix_sharing{.key = "k"};
  auto first = running->submit(keyed);
  const auto cleared = running->clear_prefixes();
  REQUIRE(cleared);
  CHECK(*cleared == 1);
  CHECK(running->prefix_stats().snapshots == 0);
  auto second = running->submit(keyed);
  CHECK(read_all(**second).end->value().cached_tokens == 0);
}

TEST_CASE("closing gives up on an engine at work, keeps it owned, and can be tried again") {
  const auto seen = std::make_shared<witness>();
  seen->hold_at = 2;
  seen->hears_interrupts = false;
  const auto running = start(seen);
  auto asked = running->submit(asking("a", 100));
  REQUIRE(asked);
  seen->await_hold();
  std::atomic<int> dropped = 0;
  REQUIRE(running->post([&](engine::step_engine* model) { dropped += model == nullptr ? 1 : 0; }));
  const auto late = running->close(1ms);
  REQUIRE(!late);
  CHECK(late.error().detail == "backend_error");
  CHECK(late.error().message.find("stays owned") != std::string::npos);
  CHECK(seen->snapshots_at_end == -1);  // It lives.
  CHECK(refusal_of(read_all(**asked)) == "cancelled");
  CHECK(running->submit(asking("b")).error().detail == "runtime_closed");
  CHECK(running->control([](engine::step_engine&) -> result<void> { return {}; }).error().detail ==
        "runtime_closed");
  seen->let_go();
  CHECK(running->close().has_value());
  CHECK(running->close().has_value());
  CHECK(seen->snapshots_at_end == 0);
  CHECK(dropped == 1);
  CHECK(running->stats().closed);
}

TEST_CASE("a task cannot wait for the end of the engine that runs it") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen);
  const auto outcome = running->control([&](engine::step_engine&) { return running->close(); });
  REQUIRE(!outcome);
  CHECK(outcome.error().code == errc::busy);
}

TEST_CASE("an engine that throws fails its batch and the next request runs") {
  const auto seen = std::make_shared<witness>();
  seen->throws = true;
  const auto running = start(seen);
  auto first = running->submit(asking("a"));
  const auto read = read_all(**first);
  REQUIRE(read.end);
  REQUIRE(!*read.end);
  CHECK(read.end->error().message == "the engine threw: out of its depth");
  {
    const std::lock_guard held(seen->mutex);
    seen->throws = false;
  }
  auto second = running->submit(asking("b"));
  CHECK(read_all(**second).text == alone("b", 8));
}

TEST_CASE("an engine that cannot be loaded is named at the start") {
  const auto none = engine::runtime::start(
      []() -> result<engine::loaded_engine> { return fail(errc::not_found, stage::start, "no such model"); });
  REQUIRE(!none);
  CHECK(none.error().message == "no such model");
  const auto thrown = engine::runtime::start(
      []() -> result<engine::loaded_engine> { throw std::runtime_error("bad weights"); });
  CHECK(thrown.error().message == "the engine threw: bad weights");
  const auto options = engine::runtime::start({}, {.max_batch_size = 0});
  CHECK(options.error().code == errc::invalid_argument);
}

TEST_CASE("what was found at the load narrows how requests are run") {
  const auto seen = std::make_shared<witness>();
  const engine::options wide{.max_batch_size = 8};
  CHECK(!start(seen, wide)->how().max_width.has_value());
  CHECK(start(seen, wide)->how().max_batch_size == 8);
  CHECK(start(seen, wide, 4)->how().max_width == 4U);
  CHECK(start(seen, wide, 4)->how().max_batch_size == 8);
  CHECK(start(seen, wide, 16)->how().max_width == 8U);
  CHECK(start(seen, {.max_batch_size = 8, .max_width = 2}, 4)->how().max_width == 2U);
  CHECK(start(seen, wide, 0)->how().max_batch_size == 1);
  CHECK(start(seen, wide, 0)->how().max_width == 1U);
}

TEST_CASE("no prefix is kept on an engine whose answers change after a restored one") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen, {}, {}, false);
  auto keyed = asking(std::string(40, 'k'));
  keyed.share = engine::prefix_sharing{.key = "k"};
  for (int i = 0; i < 2; ++i) {
    auto asked = running->submit(keyed);
    CHECK(read_all(**asked).end->value().cached_tokens == 0);
  }
  CHECK(running->prefix_stats().stores == 0);
  CHECK(*running->clear_prefixes() == 0);
}

TEST_CASE("a stream outlives its runtime and still says how it ended") {
  const auto seen = std::make_shared<witness>();
  seen->hold_at = 2;
  auto running = start(seen);
  auto asked = running->submit(asking("a", 100));
  REQUIRE(asked);
  seen->await_hold();
  running = nullptr;
  CHECK(refusal_of(read_all(**asked)) == "cancelled");
  (*asked)->cancel();
}

TEST_CASE("a host that never reads holds up nobody") {
  const auto seen = std::make_shared<witness>();
  const auto running = start(seen, {.output_queue_size = 4});
  auto silent = running->submit(asking("a", 100));
  auto heard = running->submit(asking("b", 4));
  CHECK(read_all(**heard).text == alone("b", 4));
  const auto drained = running->control([](engine::step_engine&) -> result<void> { return {}; });
  CHECK(drained.has_value());
  CHECK(refusal_of(read_all(**silent)) == "stream_backpressure");
}
