#include "pool.hpp"

#include <random>
#include <utility>

#include <evalcore/base/json.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "queue_calls.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace json = evalcore::json;
namespace pool = evalcore::pool;
using evalcore::errc;
using evalcore::result;
using evalcore::stage;

namespace {

evalcore::error not_sent() {
  return evalcore::fail(errc::cancelled, stage::none, "the request was cancelled before it was sent");
}

pool::options seeded(pool::options how) {
  how.seed = std::random_device{}();
  return how;
}

}  // namespace

evc_pool::evc_pool(std::vector<std::shared_ptr<capi::shared_backend>> endpoints, const evc_pool_options& how)
    : endpoints_(std::move(endpoints)),
      loop_(endpoints_.front()->runtime->loop),
      max_outstanding_(how.max_outstanding),
      requests_(loop_, capi::answering(endpoints_), accepted_, seeded(how.whole())) {
  requests_.deliver_to([this](pool::event&& what) { happened(std::move(what)); });
  requests_.start();
}

result<std::uint64_t> evc_pool::submit(const evc_request& request, std::uint64_t tag) {
  auto work = request.work();
  if (!work) return std::move(work).error();
  if (work->scores.empty()) {
    if (auto fits = endpoints_.front()->answers->check(work->request); !fits) return std::move(fits).error();
  }
  if (outstanding_.fetch_add(1) >= max_outstanding_) {
    outstanding_.fetch_sub(1);
    auto full = evalcore::fail(errc::overloaded, stage::none,
                               "as many requests as the pool may hold (" + std::to_string(max_outstanding_) +
                                   ") have no END that was polled: poll, then submit again");
    full.detail = "queue_full";
    return full;
  }
  const auto accepted = accepted_.add(*std::move(work), tag);
  if (!accepted) {
    outstanding_.fetch_sub(1);
    return evalcore::fail(errc::closed, stage::none, "the pool was shut down, or has stopped");
  }
  if (accepted->pool_waits) requests_.look_again();
  return accepted->ticket;
}

void evc_pool::cancel(std::uint64_t ticket) {
  loop_.post([this, ticket] {
    if (accepted_.withdraw(ticket)) {
      refuse(ticket, not_sent());
    } else {
      requests_.cancel(ticket);
    }
  });
}

void evc_pool::shut_down(bool cancel) {
  accepted_.close();
  loop_.post([this, cancel] {
    if (cancel) {
      for (const auto ticket : accepted_.withdraw_all()) refuse(ticket, not_sent());
      requests_.cancel_all();
    } else {
      requests_.look_again();
    }
  });
}

capi::event_queue::outcome evc_pool::take(std::int32_t timeout_ms, capi::pool_event& into) {
  const auto outcome = events.take(timeout_ms, into);
  if (into && into->kind == EVC_EVENT_END) outstanding_.fetch_sub(1);
  return outcome;
}

void evc_pool::happened(pool::event&& what) {
  switch (what.what) {
    case pool::event::kind::started:
    case pool::event::kind::first_token:
      break;
    case pool::event::kind::text:
      events.push_text(what.id, accepted_.tag_of(what.id), what.text);
      break;
    case pool::event::kind::retrying: {
      auto made = capi::failed_event(EVC_EVENT_RETRYING, what.outcome->error());
      made->ticket = what.id;
      made->tag = accepted_.tag_of(what.id);
      events.push(std::move(made));
      break;
    }
    case pool::event::kind::ended:
      ended(std::move(what));
      break;
    case pool::event::kind::drained:
      drained(std::move(what));
      break;
  }
}

void evc_pool::ended(pool::event&& what) {
  auto& outcome = *what.outcome;
  if (!outcome) return refuse(what.id, outcome.error());
  auto made = std::make_unique<evc_event>(EVC_EVENT_END);
  made->ticket = what.id;
  made->tag = accepted_.forget(what.id);
  made->reply = std::make_unique<evc_reply>(*std::move(outcome));
  events.push(std::move(made));
}

void evc_pool::drained(pool::event&& what) {
  accepted_.close();
  auto why = what.outcome && !*what.outcome ? std::optional(what.outcome->error()) : std::nullopt;
  for (const auto ticket : accepted_.withdraw_all()) {
    auto never = why.value_or(not_sent());
    if (why) never.message = "the request was not sent: " + why->message;
    refuse(ticket, never);
  }
  events.push(
      why ? capi::failed_event(EVC_EVENT_DRAINED, *why) : std::make_unique<evc_event>(EVC_EVENT_DRAINED),
      true);
}

void evc_pool::refuse(pool::item_id ticket, const evalcore::error& why) {
  auto made = capi::failed_event(EVC_EVENT_END, why);
  made->ticket = ticket;
  made->tag = accepted_.forget(ticket);
  events.push(std::move(made));
}

std::string evc_pool::figures() const {
  json::array all;
  for (const auto& one : requests_.figures()) {
    all.push_back(json::object{
        {"address", one.address},
        {"limit", std::uint64_t{one.limit}},
        {"in_flight", std::uint64_t{one.in_flight}},
        {"sent", one.sent},
        {"answered", one.answered},
        {"failed", one.failed},
        {"completion_tokens", one.completion_tokens},
        {"paused_s", one.paused_for ? json::value(evalcore::seconds(*one.paused_for)) : json::value()},
        {"ejections", one.ejections}});
  }
  return json::to_text(all);
}

// The functions.

namespace {

template <class Do>
evc_status with(const evc_pool* pool, Do&& work) noexcept {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_usable(pool); !good) return good;
    return work();
  });
}

auto on_events_of(evc_pool* pool) {
  return [pool](auto&& work) { return with(pool, [&] { return work(pool->events); }); };
}

}  // namespace

evc_status evc_pool_new(evc_runtime* runtime, evc_backend* const* endpoints, size_t count,
                        const evc_pool_options* options, evc_pool** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    auto all = capi::endpoints_of(runtime, endpoints, count);
    if (!all) return std::move(all).error();
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
    }
    *out = new evc_pool(*std::move(all), options == nullptr ? evc_pool_options() : *options);
    return {};
  });
}

void evc_pool_free(evc_pool* pool) EVC_NOEXCEPT { capi::free_in_its_process(pool); }

evc_status evc_pool_submit(evc_pool* pool, const evc_request* request, uint64_t tag, uint64_t* ticket,
                           evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::check_usable(pool); !good) return good;
    if (auto good = capi::check_live(request); !good) return good;
    const auto given = pool->submit(*request, tag);
    if (!given) return given.error();
    if (ticket != nullptr) *ticket = *given;
    return {};
  });
}

evc_status evc_pool_cancel(evc_pool* pool, uint64_t ticket) EVC_NOEXCEPT {
  return with(pool, [&]() -> result<void> {
    pool->cancel(ticket);
    return {};
  });
}

evc_status evc_pool_set_concurrency(evc_pool* pool, uint32_t requests) EVC_NOEXCEPT {
  return with(pool, [&]() -> result<void> {
    if (requests == 0 || requests > capi::most_in_flight)
      return capi::misuse("the value is out of its range");
    pool->set_concurrency(requests);
    return {};
  });
}

evc_status evc_pool_shutdown(evc_pool* pool, int32_t cancel) EVC_NOEXCEPT {
  return with(pool, [&]() -> result<void> {
    pool->shut_down(cancel != 0);
    return {};
  });
}

evc_status evc_pool_poll(evc_pool* pool, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT {
  size_t count = 0;
  if (out != nullptr) *out = nullptr;
  return evc_pool_poll_many(pool, timeout_ms, out, 1, &count);
}

evc_status evc_pool_poll_many(evc_pool* pool, int32_t timeout_ms, evc_event** out, size_t capacity,
                              size_t* count) EVC_NOEXCEPT {
  evc_status status = EVC_OK;
  if (count != nullptr) *count = 0;
  const auto done = with(pool, [&]() -> result<void> {
    if (out == nullptr || count == nullptr || capacity == 0) {
      return capi::misuse("there is no place for events", "null");
    }
    for (std::size_t i = 0; i < capacity; ++i) {
      capi::pool_event one;
      const auto outcome = pool->take(i == 0 ? timeout_ms : 0, one);
      if (i == 0) status = capi::status_of(outcome);
      if (!one) break;
      out[i] = one.release();
      *count = i + 1;
    }
    return {};
  });
  return done == EVC_OK ? status : done;
}

evc_status evc_pool_wake(evc_pool* pool) EVC_NOEXCEPT { return capi::wake_with(on_events_of(pool)); }

int32_t evc_pool_event_fd(evc_pool* pool) EVC_NOEXCEPT { return capi::descriptor_with(on_events_of(pool)); }

evc_status evc_pool_set_wakeup(evc_pool* pool, void (*hook)(void* context), void* context) EVC_NOEXCEPT {
  return capi::hook_with(on_events_of(pool), hook, context);
}

evc_status evc_pool_figures(const evc_pool* pool, evc_text** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_usable(pool); !good) return good;
    *out = new evc_text(pool->figures());
    return {};
  });
}
