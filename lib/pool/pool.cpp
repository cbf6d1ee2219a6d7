#include <evalcore/pool/pool.hpp>

#include <map>
#include <string>
#include <utility>

#include "pool/event_queue.hpp"

namespace evalcore::pool {
namespace {

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

/// Does what the machine says. Everything but the queue is touched on the loop only.
class pool::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(net::loop& owner, backend::backend& to, source& from, options how)
      : loop_(owner), backend_(to), source_(from), deadline_(how.total_deadline), machine_(how) {}

  /// Runs `change` on the loop, then whatever follows from it.
  void tell(std::function<void(impl&)> change) {
    loop_.post([self = shared_from_this(), apply = std::move(change)] {
      apply(*self);
      self->pump();
    });
  }

  void begin() { started_ = true; }

  /// Ends everything; afterwards neither source nor backend is touched.
  void shut_down() {
    bool running = false;
    loop_.run_and_wait([&] {
      running = started_;
      machine_.cancel_all();
      pump();
    });
    if (running) events_.wait_drained();
  }

  machine& decisions() noexcept { return machine_; }
  event_queue& events() noexcept { return events_; }

 private:
  struct flight {
    std::optional<backend::ticket> ticket;
    std::optional<errc> cancelled;  ///< Why, when the pool cancelled it.
    bool first_token_seen = false;
  };

  class request_sink final : public backend::sink {
   public:
    request_sink(std::shared_ptr<impl> owner, item_id id) : owner_(std::move(owner)), id_(id) {}
    void on_first_token(instant /*now*/) override { owner_->first_token(id_); }
    void on_end(result<chat::reply> outcome) override { owner_->end(id_, std::move(outcome)); }

   private:
    std::shared_ptr<impl> owner_;
    item_id id_;
  };

  void pump() {
    // A backend or source that answers within the call comes back here: the outer round goes on.
    if (!started_ || pumping_) return;
    pumping_ = true;
    while (const auto next = machine_.step(std::chrono::steady_clock::now())) {
      std::visit(overloaded{
                     [&](const ask_source&) { pull_one(); },
                     [&](const start_work& what) { start(what.id); },
                     [&](const start_share&) { share(); },
                     [&](const cancel_work& what) { cancel(what); },
                     [&](const report_drained&) { drained(); },
                     [&](const report_stuck&) {
                       failure_ = fail(errc::internal, stage::none,
                                       "the source of requests waits although nothing is in flight");
                     },
                 },
                 *next);
    }
    pumping_ = false;
    arm();
  }

  void pull_one() {
    std::visit(overloaded{
                   [&](work&& one) {
                     const item_id id = one.id;
                     pulled_ = std::move(one.request);
                     machine_.pulled_work(id);
                   },
                   [&](share_prefix&& one) {
                     pulled_share_ = std::move(one);
                     machine_.pulled_share();
                   },
                   [&](hold&&) { machine_.source_holds(); },
                   [&](exhausted&&) { machine_.source_exhausted(); },
               },
               source_.next());
  }

  void start(item_id id) {
    flights_.try_emplace(id);
    events_.push({.what = event::kind::started, .id = id, .outcome = std::nullopt});
    const chat::request request = std::move(pulled_);
    const auto ticket = backend_.start(request, std::make_shared<request_sink>(shared_from_this(), id));
    if (const auto found = flights_.find(id); found != flights_.end()) found->second.ticket = ticket;
  }

  void share() {
    const share_prefix what = std::move(pulled_share_);
    backend_.share_prefix(what.from, what.to, [self = shared_from_this()](result<void> outcome) {
      // After cancel_all() nobody waits for it, and the source may be gone.
      if (self->finished_) return;
      self->source_.on_shared(outcome);
      self->machine_.share_ended();
      self->pump();
    });
  }

  void cancel(const cancel_work& what) {
    const auto found = flights_.find(what.id);
    if (found == flights_.end() || !found->second.ticket) return;
    found->second.cancelled = what.why;
    backend_.cancel(*found->second.ticket);
  }

  void first_token(item_id id) {
    const auto found = flights_.find(id);
    if (found == flights_.end() || found->second.cancelled || found->second.first_token_seen) return;
    found->second.first_token_seen = true;
    events_.push({.what = event::kind::first_token, .id = id, .outcome = std::nullopt});
    source_.on_first_token(id);
    machine_.first_token(id);
    pump();
  }

  void end(item_id id, result<chat::reply> outcome) {
    const auto found = flights_.find(id);
    if (found == flights_.end()) return;
    if (found->second.cancelled == errc::timeout && !outcome && outcome.error().code == errc::cancelled) {
      outcome =
          fail(errc::timeout, stage::body,
               "no whole answer within the total deadline of " + std::to_string(seconds(deadline_)) + " s");
    }
    flights_.erase(found);
    source_.on_end(id, outcome);
    machine_.ended(id);
    events_.push({.what = event::kind::ended, .id = id, .outcome = std::move(outcome)});
    pump();
  }

  void drained() {
    finished_ = true;
    event last;
    if (failure_) last.outcome = *failure_;
    events_.push(std::move(last));
  }

  void arm() {
    const auto next = machine_.next_deadline();
    if (next == armed_for_) return;
    if (armed_for_) loop_.cancel(timer_);
    armed_for_ = next;
    if (!next) return;
    timer_ = loop_.after(*next - std::chrono::steady_clock::now(), [self = shared_from_this()] {
      self->armed_for_.reset();
      self->pump();
    });
  }

  net::loop& loop_;
  backend::backend& backend_;
  source& source_;
  duration deadline_;
  machine machine_;
  chat::request pulled_;
  share_prefix pulled_share_;
  std::map<item_id, flight> flights_;
  std::optional<instant> armed_for_;
  net::loop::timer_id timer_ = 0;
  std::optional<error> failure_;
  bool started_ = false;
  bool pumping_ = false;
  bool finished_ = false;
  event_queue events_;
};

pool::pool(net::loop& owner, backend::backend& to, source& from, options how)
    : impl_(std::make_shared<impl>(owner, to, from, how)) {}
pool::~pool() { impl_->shut_down(); }

void pool::start() {
  impl_->tell([](impl& self) { self.begin(); });
}
void pool::drain() {
  impl_->tell([](impl& self) { self.decisions().drain(); });
}
void pool::cancel_all() {
  impl_->tell([](impl& self) { self.decisions().cancel_all(); });
}
void pool::set_max_in_flight(std::uint32_t bound) {
  impl_->tell([bound](impl& self) { self.decisions().set_max_in_flight(bound); });
}

std::optional<event> pool::poll(std::chrono::milliseconds timeout) { return impl_->events().poll(timeout); }
void pool::wake() { impl_->events().wake(); }

}  // namespace evalcore::pool
