#include "net/exchange_machine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "net/keep_alive.hpp"

namespace evalcore::net {
namespace {

/// "0.25 s", whatever the host's locale.
std::string in_seconds(duration span) {
  std::array<char, 32> buffer{};
  const auto [end, failure] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds(span));
  static_cast<void>(failure);
  return std::string(buffer.data(), end) + " s";
}

/// When a bound that started at `from` is over; empty for no bound and for one beyond the clock's end.
std::optional<instant> end_of(duration bound, instant from) {
  if (bound <= duration::zero() || bound >= instant::max() - from) return std::nullopt;
  return from + bound;
}

bool passed(std::optional<instant> moment, instant now) { return moment && now >= *moment; }

}  // namespace

exchange_machine::exchange_machine(const deadlines& bounds, std::string peer, instant now)
    : bounds_(bounds), peer_(std::move(peer)), started_(now), phase_since_(now) {}

exchange_machine::action exchange_machine::begin(bool kept, instant now) {
  if (ended()) return action::end;
  kept_ = kept;
  enter(kept ? phase::sending : phase::connecting, now);
  return kept ? action::send : action::connect;
}

exchange_machine::action exchange_machine::connected(instant now) {
  if (ended()) return action::end;
  enter(phase::sending, now);
  return action::send;
}

void exchange_machine::written(bool all, instant now) {
  if (ended()) return;
  request_written_ = all;
  // A server may answer before it has read everything; then the answer's clock is the one that runs.
  if (phase_ == phase::sending) enter(all ? phase::waiting : phase::sending, now);
}

void exchange_machine::received(instant now) {
  if (!ended()) enter(phase::receiving, now);
}

exchange_machine::action exchange_machine::failed(error why, instant now) {
  if (ended()) return action::end;
  if (why.at == stage::none) why.at = stage_of_phase();
  const bool answer_seen = phase_ == phase::receiving;
  if (kept_ && !answer_seen && why.code == errc::transport) {
    // The server closed the idle connection while the request was on its way. On a fresh one this cannot
    // be the reason, so there is no second resend.
    kept_ = false;
    request_written_ = false;
    enter(phase::connecting, now);
    return action::connect;
  }
  return end(std::move(why));
}

exchange_machine::action exchange_machine::completed(bool reusable, const http_head& head) {
  if (ended()) return action::end;
  if (reusable && request_written_) keep_for_ = idle_life(head);
  return end({});
}

exchange_machine::action exchange_machine::cancel() {
  if (ended()) return action::end;
  return end(fail(errc::cancelled, stage_of_phase(), "the request was cancelled"));
}

exchange_machine::action exchange_machine::close() {
  if (ended()) return action::end;
  return end(fail(errc::closed, stage_of_phase(), "the client was shut down"));
}

exchange_machine::action exchange_machine::expired(instant now) {
  if (ended()) return action::end;
  if (passed(end_of(phase_bound(), phase_since_), now)) return end(timeout_of_phase());
  if (passed(end_of(bounds_.attempt, started_), now)) {
    return end(fail(errc::timeout, stage_of_phase(),
                    "the exchange with " + peer_ + " took longer than " + in_seconds(bounds_.attempt) +
                        " (attempt deadline)"));
  }
  return action::wait;
}

std::optional<instant> exchange_machine::deadline() const {
  if (ended()) return std::nullopt;
  const auto of_phase = end_of(phase_bound(), phase_since_);
  const auto of_attempt = end_of(bounds_.attempt, started_);
  if (!of_phase) return of_attempt;
  if (!of_attempt) return of_phase;
  return std::min(*of_phase, *of_attempt);
}

void exchange_machine::enter(phase next, instant now) {
  phase_ = next;
  phase_since_ = now;
}

exchange_machine::action exchange_machine::end(result<void> outcome) {
  phase_ = phase::ended;
  outcome_ = std::move(outcome);
  return action::end;
}

duration exchange_machine::phase_bound() const {
  switch (phase_) {
    case phase::connecting:
      return bounds_.connect;
    case phase::waiting:
      return bounds_.first_byte;
    case phase::sending:
    case phase::receiving:
      return bounds_.idle;
    case phase::ended:
      break;
  }
  return duration::zero();
}

error exchange_machine::timeout_of_phase() const {
  const std::string bound = in_seconds(phase_bound());
  std::string message;
  switch (phase_) {
    case phase::connecting:
      message = "no connection to " + peer_ + " within " + bound + " (connect deadline)";
      break;
    case phase::waiting:
      message = peer_ + " sent nothing for " + bound + " (first-byte deadline)";
      break;
    case phase::sending:
      message = peer_ + " took nothing of the request for " + bound + " (idle deadline)";
      break;
    case phase::receiving:
    case phase::ended:
      message = peer_ + " fell silent for " + bound + " in its answer (idle deadline)";
      break;
  }
  return fail(errc::timeout, stage_of_phase(), std::move(message));
}

stage exchange_machine::stage_of_phase() const {
  switch (phase_) {
    case phase::connecting:
      return stage::connect;
    case phase::sending:
      return stage::send;
    case phase::waiting:
      return stage::first_byte;
    case phase::receiving:
      return stage::body;
    case phase::ended:
      break;
  }
  return stage::none;
}

}  // namespace evalcore::net
