#include "faults/judge.hpp"

#include <algorithm>
#include <map>

namespace evalcore::faults {
namespace {

bool typed(const error& why) {
  return why.code != errc::internal && name(why.code) != "unknown" && !why.message.empty();
}

bool one_of(std::initializer_list<errc> ways, errc code) {
  return std::ranges::find(ways, code) != ways.end();
}

std::string in_ms(duration span) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()) + " ms";
}

}  // namespace

void judge::must(bool held, std::string_view what) {
  if (held) return;
  if (!found_.unkept.empty()) found_.unkept += "; ";
  found_.unkept += what;
}

void judge::ends(const record& seen, std::string_view text) {
  found_.hang = found_.hang || !seen.drained;
  for (const auto& one : seen.attempts) found_.untyped = found_.untyped || (one.why && !typed(*one.why));
  for (const auto& [id, end] : seen.ends) {
    if (seen.deadline > duration::zero() && hangs(seen, end.took, seen.deadline)) {
      found_.hang = true;
      must(false, "ended after " + in_ms(end.took));
    }
    if (!end.outcome) continue;
    const auto& reply = *end.outcome;
    const bool says_so = reply.damage != chat::json_damage{};
    if (!says_so && (reply.text != text || reply.finish != chat::finish_reason::stop)) {
      found_.silent = true;
      must(false, "answered with \"" + reply.text + "\"");
    }
  }
}

void judge::answered(const record& seen) {
  ends(seen);
  for (const auto& [id, end] : seen.ends) {
    if (!end.outcome) must(false, "not answered: " + end.outcome.error().message);
  }
}

void judge::answered_at_once(const record& seen) {
  answered(seen);
  must(seen.attempts.size() == seen.ends.size(), std::to_string(seen.attempts.size()) + " attempts");
}

void judge::answered_after(const record& seen, std::initializer_list<errc> ways) {
  answered(seen);
  std::map<pool::item_id, const attempt*> first;
  for (const auto& one : seen.attempts) first.emplace(one.id, &one);
  for (const auto& [id, one] : first) {
    if (!one->why) {
      must(false, "the fault was not noticed");
    } else if (!one_of(ways, one->why->code)) {
      must(false, "first failed as " + std::string(name(one->why->code)) + ": " + one->why->message);
    }
  }
}

void judge::failed(const record& seen, std::initializer_list<errc> ways, std::size_t attempts) {
  ends(seen);
  for (const auto& one : seen.attempts) {
    if (one.why && !one_of(ways, one.why->code)) {
      must(false, "failed as " + std::string(name(one.why->code)) + ": " + one.why->message);
    }
  }
  for (const auto& [id, end] : seen.ends) {
    if (end.outcome) found_.silent = true;
  }
  must(seen.attempts.size() == attempts * seen.ends.size(),
       std::to_string(seen.attempts.size()) + " attempts");
}

void judge::flagged(const record& seen) {
  ends(seen);
  for (const auto& [id, end] : seen.ends) {
    if (!end.outcome) {
      must(false, "not answered: " + end.outcome.error().message);
    } else if (end.outcome->damage == chat::json_damage{}) {
      found_.silent = true;
    }
  }
}

void judge::near(const record& seen, const attempt& one, duration deadline) {
  must(one.took >= deadline - deadline / 10,
       "ended " + in_ms(one.took) + " into a deadline of " + in_ms(deadline));
  if (hangs(seen, one.took, deadline)) {
    found_.hang = true;
    must(false, "took " + in_ms(one.took) + " with a deadline of " + in_ms(deadline));
  }
}

// The loop's thread may wake late, and then the host's.
bool judge::hangs(const record& seen, duration took, duration deadline) {
  return took > deadline + deadline / 10 + 2 * seen.machine_late;
}

}  // namespace evalcore::faults
