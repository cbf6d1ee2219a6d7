#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <evalcore/wire/encoded.hpp>
#include <evalcore/wire/sse.hpp>

// What every streamed format does with its events. `State` has the parser `events`, the `reader` of what is
// in them, the first `failure`, and event(one, made), which takes one event.

namespace evalcore::wire {

/// Takes the events that `piece` completes. After a failure nothing is taken any more.
template <class State>
[[nodiscard]] result<stream_progress> feed_events(State& now, std::string_view piece) {
  stream_progress made;
  if (!now.failure) {
    const auto framed = now.events.feed(piece, [&](const sse_event& one) {
      if (now.failure) return;
      if (auto taken = now.event(one, made); !taken) now.failure = std::move(taken).error();
    });
    now.reader.rest();
    if (!framed && !now.failure) now.failure = framed.error();
  }
  if (now.failure) return *now.failure;
  return made;
}

/// At the end of the body: the last event may lack its blank line. What is cut in the middle is no event; the
/// proof of the end, or its absence, then decides.
template <class State>
void finish_events(State& now) {
  if (now.failure) return;
  now.events.finish([&](const sse_event& last) {
    stream_progress unseen;
    auto taken = now.event(last, unseen);
    if (!taken && taken.error().code != errc::bad_reply) now.failure = std::move(taken).error();
  });
}

}  // namespace evalcore::wire
