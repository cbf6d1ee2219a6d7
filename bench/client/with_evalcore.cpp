// evalcore's side: the public pool over the backend of an OpenAI-compatible URL, with the deadlines and
// retries that it has unless told otherwise.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/processor_time.hpp>
#include <evalcore/pool/pool.hpp>

#include "load.hpp"

using namespace evalcore;

namespace {

using namespace std::chrono_literals;

/// The loop, and the backends of the paths that were asked for: their connections stay open.
class client {
 public:
  backend::backend& at(const load& what, bool stream) {
    auto& one = backends_[what.path];
    if (one) return *one;
    backend::http_options how;
    how.base_url = what.base_url();
    how.stream = stream;
    auto made = backend::connect_openai_url(loop_, how);
    if (!made) give_up(made.error().message);
    one = *std::move(made);
    return *one;
  }
  net::loop& loop() noexcept { return loop_; }

 private:
  net::loop loop_;
  std::map<std::string, std::unique_ptr<backend::backend>> backends_;
};

client& shared() {
  static client one;
  return one;
}

/// The same request again and again: as often as was said, or until it is enough.
class questions final : public pool::source {
 public:
  explicit questions(std::uint64_t most) : left_(most) {}
  pool::pull next() override {
    if (enough_ || left_ == 0) return pool::exhausted{};
    --left_;
    return pool::work{.id = ++last_, .request = asked_};
  }
  void on_end(pool::item_id /*id*/, const result<chat::reply>& /*outcome*/) override {}
  void stop() noexcept { enough_ = true; }

 private:
  const chat::request asked_ = question();
  std::uint64_t left_;
  pool::item_id last_ = 0;
  std::atomic<bool> enough_ = false;
};

constexpr std::uint64_t no_end = ~std::uint64_t{0};

pool::options in_flight(const load& what) {
  pool::options how;
  how.max_in_flight = what.in_flight;
  return how;
}

const chat::reply& reply_in(const pool::event& one) {
  if (!one.outcome || !*one.outcome) give_up("a request failed: " + one.outcome->error().message);
  return **one.outcome;
}

/// When one stream's deltas were sent, by the mock, and when its first and its last came, by the backend.
struct stream_times {
  instant first_came{}, end_came{};
  instant first_sent{}, end_sent{};
};

/// A backend that notes the times of the streams on their way.
class timed_backend final : public backend::backend {
 public:
  explicit timed_backend(evalcore::backend::backend& real) : real_(real) {}

  [[nodiscard]] const evalcore::backend::info& about() const override { return real_.about(); }
  [[nodiscard]] evalcore::backend::capabilities can() const override { return real_.can(); }
  evalcore::backend::ticket start(const chat::request& asked,
                                  std::shared_ptr<evalcore::backend::sink> to) override {
    return real_.start(asked, std::make_shared<timed_sink>(*this, std::move(to)));
  }
  void cancel(evalcore::backend::ticket which) override { real_.cancel(which); }

  /// After the pool has drained.
  [[nodiscard]] const std::vector<stream_times>& streams() const noexcept { return streams_; }

 private:
  class timed_sink final : public evalcore::backend::sink {
   public:
    timed_sink(timed_backend& owner, std::shared_ptr<evalcore::backend::sink> to)
        : owner_(owner), to_(std::move(to)) {}
    void on_first_token(instant now) override {
      seen_.first_came = now;
      to_->on_first_token(now);
    }
    void on_end(result<chat::reply> outcome) override {
      seen_.end_came = std::chrono::steady_clock::now();
      if (outcome) {
        const std::string& text = outcome->text;
        seen_.first_sent = stamp(text.data(), text);
        const auto last = text.rfind(' ', text.size() - 2);
        seen_.end_sent = stamp(text.data() + (last == std::string::npos ? 0 : last + 1), text);
        owner_.streams_.push_back(seen_);
      }
      to_->on_end(std::move(outcome));
    }

   private:
    static instant stamp(const char* from, const std::string& within) {
      std::int64_t ns = 0;
      if (std::from_chars(from, within.data() + within.size(), ns).ec != std::errc()) {
        give_up("a stream without its time in it");
      }
      return instant(std::chrono::nanoseconds(ns));
    }

    timed_backend& owner_;
    std::shared_ptr<evalcore::backend::sink> to_;
    stream_times seen_;
  };

  evalcore::backend::backend& real_;
  std::vector<stream_times> streams_;
};

/// Keeps this thread on a core, for as long as it lives.
class on_core {
 public:
  explicit on_core(int core) {
    ::pthread_getaffinity_np(::pthread_self(), sizeof before_, &before_);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
  }
  ~on_core() { ::pthread_setaffinity_np(::pthread_self(), sizeof before_, &before_); }
  on_core(const on_core&) = delete;
  on_core& operator=(const on_core&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

figures with_evalcore(const load& what) {
  questions asked(no_end);
  pool::pool requests(shared().loop(), {&shared().at(what, false)}, asked, in_flight(what));
  meter count(what);
  requests.start();
  while (const auto event = requests.poll(1min)) {
    if (event->what == pool::event::kind::drained) return count.seen();
    if (event->what != pool::event::kind::ended) continue;
    if (reply_in(*event).text.empty()) give_up("an answer without text");
    if (!count.answered()) asked.stop();
  }
  give_up("no event for a minute");
}

stream_figures hold_streams(const load& what) {
  double rate = 0;
  int deltas = 0;
  if (std::sscanf(what.path.c_str(), "/stream/%lf/%d/", &rate, &deltas) != 2)
    give_up("no streams: " + what.path);
  const duration token_time(static_cast<std::int64_t>(1e9 / rate));
  const auto nominal = token_time * (deltas - 1);

  timed_backend timed(shared().at(what, true));
  questions asked(what.in_flight);
  pool::pool requests(shared().loop(), {&timed}, asked, in_flight(what));
  requests.start();
  unsigned open = 0;
  double cpu_s = 0;
  instant all_open{};
  stream_figures seen;
  while (const auto event = requests.poll(1min)) {
    if (event->what == pool::event::kind::first_token && ++open == what.in_flight) {
      all_open = std::chrono::steady_clock::now();
      cpu_s = processor_seconds();
    }
    if (event->what == pool::event::kind::ended) {
      reply_in(*event);
      if (seen.cpu_share == 0 && all_open != instant()) {
        seen.cpu_share = (processor_seconds() - cpu_s) / seconds(std::chrono::steady_clock::now() - all_open);
      }
    }
    if (event->what == pool::event::kind::drained) break;
  }
  for (const auto& one : timed.streams()) {
    if (one.first_came - one.first_sent < token_time && one.end_came - one.end_sent < token_time) ++seen.held;
    if (one.end_sent - one.first_sent < nominal + nominal / 20) ++seen.paced;
  }
  return seen;
}

double first_token_error_ms(const load& what, int core) {
  timed_backend timed(shared().at(what, true));
  questions asked(no_end);
  pool::pool requests(shared().loop(), {&timed}, asked, in_flight(what));
  meter count(what);
  std::optional<on_core> computes;
  if (core >= 0) computes.emplace(core);
  requests.start();
  double computed = 1;
  for (bool over = false; !over;) {
    if (core >= 0) {
      for (int i = 0; i < 100'000; ++i) computed = std::sqrt(computed + i);
    }
    while (const auto event = requests.poll(core >= 0 ? 0ms : 1000ms)) {
      over = event->what == pool::event::kind::drained;
      if (event->what == pool::event::kind::ended) {
        reply_in(*event);
        if (!count.answered()) asked.stop();
      }
    }
  }
  if (computed < 0 || timed.streams().empty()) give_up("no stream came");
  std::vector<double> errors;
  for (const auto& one : timed.streams()) errors.push_back(1e3 * seconds(one.first_came - one.first_sent));
  std::ranges::sort(errors);
  return errors[errors.size() * 99 / 100];
}
