#include "run/flights.hpp"

#include <algorithm>
#include <utility>

#include <evalcore/run/ids.hpp>

#include "run/prepared_item.hpp"

namespace evalcore::run {
namespace {

/// Tools that go out as text leave these no place.
std::vector<std::string> fields_left_out(const chat::request& asked, const chat::request& sent) {
  std::vector<std::string> out;
  if (asked.tool_choice && !sent.tool_choice) out.emplace_back("tool_choice");
  if (asked.parallel_tool_calls && !sent.parallel_tool_calls) out.emplace_back("parallel_tool_calls");
  if (sent.tools.empty() && std::ranges::any_of(asked.tools, &chat::tool::strict)) {
    out.emplace_back("tools.strict");
  }
  return out;
}

}  // namespace

std::string in_words(const error& failure) {
  if (failure.backend_words.empty() || failure.message.find(failure.backend_words) != std::string::npos) {
    return failure.message;
  }
  constexpr std::size_t shown = 200;
  const auto words = failure.backend_words.substr(0, shown);
  return failure.message + ": " + words + (failure.backend_words.size() > shown ? "…" : "");
}

result<void> flights::handle(pool::event& event) {
  switch (event.what) {
    case pool::event::kind::started:
      return started(event);
    case pool::event::kind::retrying:
      return retrying(event);
    case pool::event::kind::ended:
      return ended(event);
    case pool::event::kind::first_token:
    case pool::event::kind::text:
    case pool::event::kind::drained:
      break;
  }
  return {};
}

result<void> flights::started(const pool::event& event) {
  run_.now.running += 1;
  run_.told.sent += 1;
  if (event.attempt > 1) {
    run_.now.retrying -= 1;
    run_.told.retried += 1;
  } else if (auto made = make(event.id); !made) {
    return made;
  }
  auto& one = flying_.at(event.id);
  one.waits = false;
  one.attempt.started_unix_ms = unix_ms_now();
  one.attempt.failure.reset();
  one.attempt.cost = run_.costs.sent(one.bound);
  one.attempt.number.reset();
  auto begun = run_.into.begin_attempt(one.record, one.attempt);
  if (!begun) return std::move(begun).error();
  one.attempt.number = *begun;
  return {};
}

result<void> flights::make(pool::item_id id) {
  auto how = out_.planned().take_sent(id);
  const std::uint32_t epoch = out_.second(id) ? second_epoch : 0;
  auto what = how.what ? run_.with_keys(out_.position(id), std::move(how.what->one),
                                        std::move(how.what->request), epoch)
                       : run_.read(out_.position(id), epoch);
  if (!what) return std::move(what).error();
  flight made{
      std::move(what->record),
      {.started_unix_ms = unix_ms_now(), .predicted_cached_tokens = how.predicted_cached, .slot = how.slot}};
  made.left_out = fields_left_out(what->one.request, what->request);
  made.one = std::move(what->one);
  made.one.request.messages = {};  // No scorer looks at them, and they may be long.
  made.scorer = std::move(what->scorer);
  made.bound = out_.bound(id);
  flying_.insert_or_assign(id, std::move(made));
  return {};
}

result<void> flights::retrying(const pool::event& event) {
  run_.now.running -= 1;
  run_.now.retrying += 1;
  auto& one = flying_.at(event.id);
  one.waits = true;
  const auto& why = event.outcome->error();
  one.attempt.failure = why;
  one.attempt.cost = run_.costs.ended(*event.outcome, one.bound);
  if (run_.told.retries_by_class[std::string(name(why.code))]++ == 0) {
    run_.watch.note("item \"" + one.record.item_id + "\" is sent again: " + in_words(why));
  }
  return run_.into.put_failure(one.record, one.attempt);
}

result<void> flights::ended(pool::event& event) {
  auto& outcome = *event.outcome;
  const bool cancelled = !outcome && outcome.error().code == errc::cancelled;
  if (event.attempt == 0) {  // It was not sent.
    if (cancelled) return {};
    if (auto made = make(event.id); !made) return made;
  }
  auto node = flying_.extract(event.id);
  auto& was = node.mapped();
  if (event.attempt > 0) (was.waits ? run_.now.retrying : run_.now.running) -= 1;
  if (event.attempt > 0 && !was.waits) was.attempt.cost = run_.costs.ended(outcome, was.bound);
  if (!outcome) {
    was.attempt.failure = outcome.error();
    if (!cancelled) count_error(was.record, outcome.error());
    return was.waits ? result<void>() : run_.into.put_failure(was.record, was.attempt);
  }
  tell_order();
  outcome->dropped.insert(outcome->dropped.end(), was.left_out.begin(), was.left_out.end());
  arrived_.push_back({.position = out_.position(event.id),
                      .one = std::move(was.one),
                      .scorer = std::move(was.scorer),
                      .record = std::move(was.record),
                      .attempt = std::move(was.attempt),
                      .reply = *std::move(outcome)});
  return put_answer(run_, arrived_.back());
}

result<void> flights::committed() {
  for (const auto& one : std::exchange(arrived_, {})) {
    if (auto counted = count_answer(run_, one); !counted) return counted;
    run_.now.done += 1;
    tell_dropped(one.record.item_id, one.reply);
    count_tokens(one.reply, one.attempt);
  }
  return {};
}

void flights::tell_order() {
  const auto now = out_.planned().planning();
  if (now == told_planning_) return;
  told_planning_ = now;
  run_.watch.note(
      now == prefix::planning::ended
          ? "the backend's cache gave less than a tenth of what requests share: the rest goes out "
            "without waiting, in the order in which it was dealt"
          : "the backend does not tell whether its cache gave what requests share, and waiting for "
            "it has taken 1 % of the run: they wait no longer than that from here on");
}

/// An answer without what was asked for may score otherwise: that is said, once for each field.
void flights::tell_dropped(const std::string& item_id, const chat::reply& reply) {
  for (const auto& field : reply.dropped) {
    if (!told_dropped_.insert(field).second) continue;
    run_.watch.note("the backend has no place for \"" + field + "\": item \"" + item_id +
                    "\" was answered without it, and so are others that ask for it");
  }
}

void flights::count_error(const item_record& of, const error& why) {
  run_.now.done += 1;
  if (of.epoch != 0) {
    if (second_errors_++ == 0) {
      run_.watch.note("the second request of item \"" + of.item_id + "\" failed: " + in_words(why));
    }
    return;
  }
  run_.now.errors += 1;
  run_.told.errors += 1;
  if (run_.told.errors_by_class[std::string(name(why.code))]++ == 0) {
    run_.watch.note("item \"" + of.item_id + "\" errored: " + in_words(why));
  }
}

void flights::count_tokens(const chat::reply& reply, const attempt_record& attempt) {
  if (!run_.counts.tokens(reply, attempt.predicted_cached_tokens) && run_.told.unbelievable_usage == 1) {
    run_.watch.note(
        "the backend reports token counts that cannot be (such as more cached tokens than the prompt has); "
        "replies with such counts are left out of the sums");
  }
  run_.now.completion_tokens = run_.told.completion_tokens.value_or(0);
  run_.now.prompt_tokens = run_.told.prompt_tokens.value_or(0);
  run_.now.cached_tokens = run_.told.cached_tokens;
}

}  // namespace evalcore::run
