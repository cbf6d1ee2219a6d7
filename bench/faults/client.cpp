#include "faults/client.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;

class numbered final : public pool::source {
 public:
  explicit numbered(std::uint64_t items) : items_(items) {}
  pool::pull next() override {
    if (next_ == items_) return pool::exhausted{};
    pool::work one{.id = next_, .request = {}};
    one.request.messages.emplace_back();
    one.request.messages.back().text = "item " + std::to_string(next_++) + ".";
    one.request.params.max_tokens = 16;
    return one;
  }
  void on_end(pool::item_id /*id*/, const result<chat::reply>& /*outcome*/) override {}

 private:
  std::uint64_t items_;
  std::uint64_t next_ = 0;
};

/// Sleeps and looks how late it wakes, so that a machine with too much to do is not taken for a slow client.
class metronome {
 public:
  metronome() : worker_([this](const std::stop_token& stop) { beat(stop); }) {}
  duration worst() {
    worker_.request_stop();
    worker_.join();
    return worst_;
  }

 private:
  void beat(const std::stop_token& stop) {
    auto next = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      next += 5ms;
      std::this_thread::sleep_until(next);
      const auto now = std::chrono::steady_clock::now();
      worst_ = std::max<duration>(worst_, now - next);
      next = now;
    }
  }

  duration worst_{};  // Read after the join.
  std::jthread worker_;
};

result<std::unique_ptr<backend::backend>> connect(net::loop& owner, const setup& how) {
  backend::http_options ways;
  ways.base_url = how.url;
  ways.model = "m";
  ways.stream = how.how.streamed;
  ways.deadlines = how.deadlines;
  ways.tls = how.tls;
  return how.how.messages ? backend::connect_anthropic_url(owner, ways)
                          : backend::connect_openai_url(owner, ways);
}

}  // namespace

setup::setup() {
  pool.max_in_flight = 4;
  pool.retry.retries = 3;
  pool.retry.first_delay = 40ms;
  pool.retry.longest_delay = 400ms;
  pool.retry.max_wait = 1600ms;
  pool.retry.budget_per_s = 100;
  pool.total_deadline = 2s;
  deadlines = {.connect = 500ms, .first_byte = 800ms, .idle = 500ms, .attempt = 1800ms};
}

client::client(setup how) : how_(std::move(how)), backend_(connect(loop_, how_)) {}

client::~client() {
  if (backend_) backend_->reset();
}

std::optional<error> client::refused() const {
  return backend_ ? std::nullopt : std::optional(backend_.error());
}

record client::run() {
  numbered items(how_.items);
  record seen{.deadline = how_.pool.total_deadline};
  metronome beats;
  pool::pool asks(loop_, {backend_->get()}, items, how_.pool);
  const auto began = std::chrono::steady_clock::now();
  std::map<pool::item_id, duration> first;
  std::map<pool::item_id, duration> last;
  // Far beyond every item's deadline: who waits longer than this hangs.
  const auto patience = how_.pool.total_deadline * 2 + 5s;
  asks.start();
  for (;;) {
    auto event = asks.poll(std::chrono::duration_cast<std::chrono::milliseconds>(patience));
    const duration now = std::chrono::steady_clock::now() - began;
    if (!event) break;
    seen.drained = event->what == pool::event::kind::drained;
    if (seen.drained) break;
    if (event->what == pool::event::kind::started) {
      first.emplace(event->id, now);
      last[event->id] = now;
    } else if (event->what != pool::event::kind::first_token && event->outcome) {
      attempt one{.id = event->id, .began = last[event->id], .took = now - last[event->id], .why = {}};
      if (!*event->outcome) one.why = event->outcome->error();
      seen.attempts.push_back(one);
      if (event->what == pool::event::kind::ended) {
        seen.ends.emplace(event->id, ending{*std::move(event->outcome), now - first[event->id]});
      }
    }
  }
  seen.machine_late = beats.worst();
  const auto figures = asks.figures();
  seen.sent = figures.front().sent;
  seen.ejections = figures.front().ejections;
  return seen;
}

}  // namespace evalcore::faults
