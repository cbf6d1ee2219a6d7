// The queue between evalcore's threads and a host's, without either.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>

#include "../../capi/event_queue.hpp"

namespace {

using evalcore::capi::event_queue;
using evalcore::capi::pool_event;
using outcome = event_queue::outcome;

void push(event_queue& to, std::int32_t kind, std::uint64_t ticket) {
  auto made = std::make_unique<evc_event>(kind);
  made->ticket = ticket;
  to.push(std::move(made));
}

pool_event taken(event_queue& from) {
  pool_event one;
  CHECK(from.take(0, one) == outcome::given);
  return one;
}

}  // namespace

TEST_CASE("a wake is kept for a call that waits: one that does not wait leaves it") {
  event_queue events;
  push(events, EVC_EVENT_END, 1);
  events.wake();
  pool_event one;
  CHECK(events.take(-1, one) == outcome::given);
  one.reset();
  CHECK(events.take(0, one) == outcome::none);
  const auto began = std::chrono::steady_clock::now();
  CHECK(events.take(5'000, one) == outcome::none);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(4));
  CHECK(events.take(1, one) == outcome::none);  // And once only.
}

TEST_CASE("text after a retry is joined although the text before it is taken meanwhile") {
  event_queue events;
  events.push_text(7, 0, "void");
  push(events, EVC_EVENT_RETRYING, 7);
  events.push_text(7, 0, "It ");
  CHECK(taken(events)->text == "void");
  events.push_text(7, 0, "is so");
  CHECK(taken(events)->kind == EVC_EVENT_RETRYING);
  CHECK(taken(events)->text == "It is so");
  pool_event none;
  CHECK(events.take(0, none) == outcome::none);
}
