#include <evalcore/pool/pool.hpp>

#include <string>
#include <unordered_map>
#include <utility>

#include "pool/event_queue.hpp"
#include "pool/machine.hpp"

namespace evalcore::pool {
namespace {

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};

std::unique_ptr<result<chat::reply>> held(result<chat::reply>&& outcome) {
  return std::make_unique<result<chat::reply>>(std::move(outcome));
}

}  // namespace

/// Does what the machine says. Everything but the queue is touched on the loop only.
class pool::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(net::loop& owner, std::vector<backend::backend*> endpoints, source& from, const options& how)
      : loop_(owner),
        backends_(std::move(endpoints)),
        figures_(backends_.size()),
        source_(from),
        deadline_(how.total_deadline),
        machine_(how, static_cast<std::uint32_t>(backends_.size())) {
    for (std::size_t i = 0; i < backends_.size(); ++i) figures_[i].address = backends_[i]->about().address;
  }

  /// Runs `change` on the loop, then whatever follows from it.
  void tell(std::function<void(impl&)> change) {
    loop_.post([self = shared_from_this(), apply = std::move(change)] {
      apply(*self);
      self->pump();
    });
  }

  void deliver_to(std::function<void(event&&)> sink) {
    loop_.run_and_wait([&] { sink_ = std::move(sink); });
  }

  void begin() {
    started_ = true;
    began_ = std::chrono::steady_clock::now();
  }

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

  std::vector<endpoint_figures> figures() {
    std::vector<endpoint_figures> all;
    loop_.run_and_wait([&] {
      all = figures_;
      const auto now = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& gate = machine_.endpoints()[i];
        all[i].limit = gate.limit();
        all[i].in_flight = gate.in_flight();
        all[i].ejections = gate.ejections();
        if (const auto opens = gate.opens_at(); opens && *opens > now) all[i].paused_for = *opens - now;
        for (const auto& change : gate.history()) {
          all[i].limit_history.push_back({change.at - began_, change.limit, change.why, change.tokens});
        }
      }
    });
    return all;
  }

  machine& decisions() noexcept { return machine_; }
  event_queue& events() noexcept { return events_; }

 private:
  struct flight {
    chat::request request;  ///< Kept for another attempt, and so are:
    std::vector<chat::loglikelihood_request> scores;
    bool wants_text = false;
    std::uint32_t attempt = 0;
    std::uint32_t endpoint = 0;
    std::optional<backend::ticket> ticket;  ///< Absent: it waits.
    std::optional<errc> cancelled;          ///< Why, when the pool cancelled it.
    bool first_token_seen = false;
  };

  /// One attempt's; late words of an earlier attempt have no effect.
  class request_sink final : public backend::sink {
   public:
    request_sink(std::shared_ptr<impl> owner, item_id id, std::uint32_t attempt)
        : owner_(std::move(owner)), id_(id), attempt_(attempt) {}
    void on_rate_report(const backend::rate_report& limits) override {
      owner_->machine_.reported(id_, limits, std::chrono::steady_clock::now());
    }
    void on_first_token(instant /*now*/) override { owner_->first_token(id_, attempt_); }
    void on_text(std::string_view delta) override { owner_->text(id_, attempt_, delta); }
    void on_end(result<chat::reply> outcome) override { owner_->end(id_, attempt_, std::move(outcome)); }

   private:
    std::shared_ptr<impl> owner_;
    item_id id_;
    std::uint32_t attempt_;
  };

  void pump() { pump(std::chrono::steady_clock::now()); }

  void pump(instant now) {
    // A backend or source that answers within the call comes back here: the outer round goes on.
    if (!started_ || pumping_) return;
    pumping_ = true;
    tell_pause(now);
    while (auto next = machine_.step(now)) {
      std::visit(overloaded{
                     [&](const ask_source&) { pull_one(now); },
                     [&](const start_attempt& what) { start(what); },
                     [&](const start_share&) { share(); },
                     [&](const cancel_attempt& what) { cancel(what); },
                     [&](end_item& what) { finish(what.id, std::move(what.why)); },
                     [&](report_drained& what) { drained(std::move(what.why)); },
                 },
                 *next);
    }
    tell_pause(now);
    pumping_ = false;
    arm(now);
  }

  void tell_pause(instant now) {
    // After the last end the source may be gone.
    const bool paused = machine_.paused(now);
    if (finished_ || paused == paused_) return;
    paused_ = paused;
    source_.on_pause(paused);
  }

  void pull_one(instant& now) {
    auto pulled = source_.next();
    now = std::chrono::steady_clock::now();  // It may have taken long.
    std::visit(overloaded{
                   [&](work&& one) {
                     auto& made = flights_[one.id];
                     made.request = std::move(one.request);
                     made.scores = std::move(one.scores);
                     made.wants_text = one.wants_text;
                     machine_.pulled_work(one.id, one.affinity, one.prompt_tokens, now);
                   },
                   [&](refused&& one) {
                     machine_.pulled_refused();
                     push({.what = event::kind::ended, .id = one.id, .outcome = held(std::move(one.why))});
                   },
                   [&](share_prefix&& one) {
                     pulled_share_ = std::move(one);
                     machine_.pulled_share();
                   },
                   [&](hold&& one) { machine_.source_holds(one.until); },
                   [&](later&&) { machine_.source_waits(); },
                   [&](exhausted&&) { machine_.source_exhausted(); },
               },
               std::move(pulled));
  }

  void start(const start_attempt& what) {
    auto& one = flights_.at(what.id);
    one.attempt = what.attempt;
    one.endpoint = what.endpoint;
    one.first_token_seen = false;
    figures_[what.endpoint].sent += 1;
    say(event::kind::started, what.id, one);
    if (!one.scores.empty()) return score(what, one);
    // A backend never answers before the call returns.
    one.ticket = backends_[what.endpoint]->start(
        one.request, std::make_shared<request_sink>(shared_from_this(), what.id, what.attempt));
  }

  /// What one attempt at several scores has gathered.
  struct gathering {
    std::vector<chat::loglikelihood> scores;
    std::optional<error> failure;  ///< The first.
    std::size_t missing = 0;
  };

  void score(const start_attempt& what, flight& one) {
    one.ticket = nobody;
    auto all = std::make_shared<gathering>();
    all->scores.resize(one.scores.size());
    all->missing = one.scores.size();
    for (std::size_t i = 0; i < one.scores.size(); ++i) {
      backends_[what.endpoint]->loglikelihood(
          one.scores[i], [self = shared_from_this(), what, all, i](result<chat::loglikelihood> given) {
            if (given) {
              all->scores[i] = *given;
            } else if (!all->failure) {
              all->failure = std::move(given).error();
            }
            // Posted, since it may have come within the call.
            if (--all->missing == 0) self->loop_.post([self, what, all] { self->scored(what, *all); });
          });
    }
  }

  void scored(const start_attempt& what, gathering& all) {
    if (all.failure) return end(what.id, what.attempt, *std::move(all.failure));
    chat::reply scored;
    scored.choices = std::move(all.scores);
    end(what.id, what.attempt, std::move(scored));
  }

  void share() {
    const share_prefix what = std::move(pulled_share_);
    backends_.front()->share_prefix(what.from, what.to, [self = shared_from_this()](result<void> outcome) {
      // After cancel_all() nobody waits for it, and the source may be gone.
      if (self->finished_) return;
      self->source_.on_shared(outcome);
      self->machine_.share_ended();
      self->pump();
    });
  }

  void cancel(const cancel_attempt& what) {
    const auto found = flights_.find(what.id);
    if (found == flights_.end() || !found->second.ticket) return;
    found->second.cancelled = what.why;
    if (found->second.scores.empty()) {
      backends_[found->second.endpoint]->cancel(*found->second.ticket);
    } else {  // A backend cannot be told; what it still says comes too late.
      loop_.post([self = shared_from_this(), id = what.id, attempt = found->second.attempt] {
        self->end(id, attempt, fail(errc::cancelled, stage::body, "cancelled"));
      });
    }
  }

  void first_token(item_id id, std::uint32_t attempt) {
    const auto found = flights_.find(id);
    if (found == flights_.end() || found->second.attempt != attempt || found->second.cancelled ||
        found->second.first_token_seen) {
      return;
    }
    found->second.first_token_seen = true;
    say(event::kind::first_token, id, found->second);
    source_.on_first_token(id);
    machine_.first_token(id);
    pump();
  }

  void text(item_id id, std::uint32_t attempt, std::string_view delta) {
    const auto found = flights_.find(id);
    if (found == flights_.end() || found->second.attempt != attempt || found->second.cancelled ||
        !found->second.wants_text) {
      return;
    }
    push({.what = event::kind::text,
          .id = id,
          .attempt = attempt,
          .endpoint = found->second.endpoint,
          .text = std::string(delta)});
  }

  void end(item_id id, std::uint32_t attempt, result<chat::reply>&& outcome) {
    const auto found = flights_.find(id);
    if (found == flights_.end() || found->second.attempt != attempt || !found->second.ticket) return;
    auto& one = found->second;
    one.ticket.reset();
    count(one.endpoint, outcome);
    if (one.cancelled == errc::timeout && !outcome && outcome.error().code == errc::cancelled) {
      outcome =
          fail(errc::timeout, stage::body,
               "no whole answer within the total deadline of " + std::to_string(seconds(deadline_)) + " s");
    }
    const auto now = std::chrono::steady_clock::now();
    if (machine_.attempt_ended(id, outcome, now) == fate::waits) {
      source_.on_retry(id, outcome.error());
      say(event::kind::retrying, id, one, std::move(outcome));
    } else {
      finish(id, std::move(outcome));
    }
    pump(now);
  }

  /// The item's end.
  void finish(item_id id, result<chat::reply>&& outcome) {
    const auto node = flights_.extract(id);
    source_.on_end(id, outcome);
    push({.what = event::kind::ended,
          .id = id,
          .attempt = node.mapped().attempt,
          .endpoint = node.mapped().endpoint,
          .outcome = held(std::move(outcome))});
  }

  void say(event::kind what, item_id id, const flight& one) {
    push({.what = what, .id = id, .attempt = one.attempt, .endpoint = one.endpoint});
  }
  void say(event::kind what, item_id id, const flight& one, result<chat::reply>&& outcome) {
    push({.what = what,
          .id = id,
          .attempt = one.attempt,
          .endpoint = one.endpoint,
          .outcome = held(std::move(outcome))});
  }

  /// What happens in one turn of the loop reaches the host together.
  void push(event&& one) {
    if (sink_) {
      const bool last = one.what == event::kind::drained;
      sink_(std::move(one));
      if (last) events_.end();
      return;
    }
    if (events_.push(std::move(one))) {
      loop_.post([self = shared_from_this()] { self->events_.publish(); });
    }
  }

  void count(std::uint32_t endpoint, const result<chat::reply>& outcome) {
    auto& figures = figures_[endpoint];
    if (outcome) {
      figures.answered += 1;
      figures.completion_tokens += outcome->usage.completion_tokens.value_or(0);
    } else {
      figures.failed += 1;
    }
  }

  void drained(std::optional<error> why) {
    finished_ = true;
    event last;
    if (why) last.outcome = held(*std::move(why));
    push(std::move(last));
  }

  void arm(instant now) {
    const auto next = machine_.next_wake(now);
    if (next == armed_for_) return;
    if (armed_for_) loop_.cancel(timer_);
    armed_for_ = next;
    if (!next) return;
    timer_ = loop_.after(*next - now, [self = shared_from_this()] {
      self->armed_for_.reset();
      self->pump();
    });
  }

  /// The ticket of an attempt that a backend gave none.
  static constexpr backend::ticket nobody = 0;

  net::loop& loop_;
  std::vector<backend::backend*> backends_;
  std::vector<endpoint_figures> figures_;
  source& source_;
  duration deadline_;
  machine machine_;
  std::function<void(event&&)> sink_;
  share_prefix pulled_share_;
  std::unordered_map<item_id, flight> flights_;
  std::optional<instant> armed_for_;
  net::loop::timer_id timer_ = 0;
  bool started_ = false;
  instant began_;
  bool pumping_ = false;
  bool finished_ = false;
  bool paused_ = false;  ///< As the source was told.
  event_queue events_;
};

pool::pool(net::loop& owner, std::vector<backend::backend*> endpoints, source& from, options how)
    : impl_(std::make_shared<impl>(owner, std::move(endpoints), from, how)) {}
pool::~pool() { impl_->shut_down(); }

void pool::deliver_to(std::function<void(event&&)> sink) { impl_->deliver_to(std::move(sink)); }
void pool::start() {
  impl_->tell([](impl& self) { self.begin(); });
}
void pool::drain() {
  impl_->tell([](impl& self) { self.decisions().drain(); });
}
void pool::cancel_all() {
  impl_->tell([](impl& self) { self.decisions().cancel_all(); });
}
void pool::cancel(item_id id) {
  impl_->tell([id](impl& self) { self.decisions().cancel(id); });
}
void pool::look_again() {
  impl_->tell([](impl& self) { self.decisions().look_again(); });
}
void pool::set_max_in_flight(std::uint32_t bound) {
  impl_->tell(
      [bound](impl& self) { self.decisions().set_max_in_flight(bound, std::chrono::steady_clock::now()); });
}

std::optional<event> pool::poll(std::chrono::milliseconds timeout) { return impl_->events().poll(timeout); }
void pool::wake() { impl_->events().wake(); }
std::vector<endpoint_figures> pool::figures() const { return impl_->figures(); }

}  // namespace evalcore::pool
