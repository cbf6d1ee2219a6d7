// What the scheduler makes of a step: pieces, scores, ends and failures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/scheduler.hpp"

namespace evalcore::engine {
namespace {

/// A token that was chosen has a probability, and so have those likelier than it; others may have none at
/// all, but not one that is no number.
bool is_number(const generated& made) {
  return std::isfinite(made.logprob.value_or(0)) &&
         std::ranges::none_of(made.top, [](const likely& one) { return std::isnan(one.logprob); });
}

std::string no_number(const traits& engine) {
  return engine.name + " told a log probability that is no number: its model may be damaged";
}

}  // namespace

void scheduler::stepped(const result<void>& outcome, const step_output& out, instant now) {
  at_cut_.clear();
  for (auto& one : batch_) one->asked_to_leave = false;
  if (!outcome) return fail_batch(outcome.error());
  for (const auto& one : out.prefill) saw(one);
  for (const auto& one : out.tokens) got(one, now);
  for (const auto& one : out.scores) got(one, now);
  for (const auto& one : out.failures) got(one);
  std::erase_if(at_cut_, [](const job* one) { return !one->row; });
  if (out.idle()) {
    fail_batch(refused(refusal::backend_error, engine_.name + " has rows but does no work on them"));
  }
}

job* scheduler::of(row_id row) const {
  const auto found = rows_.find(row);
  return found == rows_.end() ? nullptr : found->second;
}

void scheduler::saw(const prefilled& at) {
  auto* one = of(at.row);
  if (one == nullptr || one->over()) return;
  one->processed = at.processed;
  one->whole.how.peak_batch_size = std::max(one->whole.how.peak_batch_size, at.batch_rows);
  counted_.peak_batch_size = std::max(counted_.peak_batch_size, at.batch_rows);
  if (at.at_cut && std::ranges::binary_search(one->cuts, at.processed)) at_cut_.push_back(one);
  if (!one->what->watch_prefill || one->first_token) return;
  const bool was_ready = one->out->ready();
  one->out->see({.processed = at.processed,
                 .prompt_tokens = static_cast<std::uint32_t>(one->prompt.size()),
                 .cached_tokens = one->restored});
  heard(*one, was_ready);
}

void scheduler::got(const generated& made, instant now) {
  auto* one = of(made.row);
  if (one == nullptr) return;
  if (made.end) row_gone(*one);
  if (one->over()) return;
  auto& whole = one->whole;
  whole.how.peak_batch_size = std::max(whole.how.peak_batch_size, made.batch_rows);
  counted_.peak_batch_size = std::max(counted_.peak_batch_size, made.batch_rows);
  if (made.end) {
    whole.tail = one->stops.take_held();
    return complete(*one, chat::finish_reason::stop);
  }
  if (!is_number(made)) return refuse(*one, refusal::backend_error, no_number(engine_));
  if (!one->first_token) one->first_token = now;
  one->last_token = now;
  ++whole.generation_tokens;

  piece shown{.id = made.id, .logprob = made.logprob, .top = made.top};
  const bool stops = one->stops.feed(made.text, shown.text);
  const bool last = stops || whole.generation_tokens >= one->max_tokens;
  if (last && !stops) shown.text += one->stops.take_held();
  const bool was_ready = one->out->ready();
  if (!one->out->push(std::move(shown))) {
    return refuse(*one, refusal::stream_backpressure,
                  "its reader is too slow: " + std::to_string(how_.output_queue_size) +
                      " records (output_queue_size) were not read");
  }
  heard(*one, was_ready);
  if (!last) return;
  whole.stop_string = one->stops.found();
  complete(*one, stops ? chat::finish_reason::stop : chat::finish_reason::length);
}

void scheduler::got(const scored& one_of, instant now) {
  auto* one = of(one_of.row);
  if (one == nullptr) return;
  if (one_of.last) row_gone(*one);
  if (one->over()) return;
  if (!std::isfinite(one_of.sum_logprob)) return refuse(*one, refusal::backend_error, no_number(engine_));
  if (!one->first_token) one->first_token = now;
  one->last_token = now;
  auto& scores = one->whole.scores;
  constexpr auto missing = std::numeric_limits<std::size_t>::max();
  scores.resize(one->what->continuations.size(), {.continuation = missing});
  if (one_of.continuation < scores.size()) scores[one_of.continuation] = one_of;
  if (!one_of.last) return;
  if (std::ranges::find(scores, missing, &scored::continuation) != scores.end()) {
    return refuse(*one, refusal::backend_error, engine_.name + " did not score all continuations");
  }
  complete(*one, chat::finish_reason::stop);
}

void scheduler::got(const row_failure& failed) {
  auto* one = of(failed.row);
  if (one == nullptr) return;
  row_gone(*one);
  finish(*one, failed.why);
}

void scheduler::complete(job& one, chat::finish_reason why) {
  auto& whole = one.whole;
  whole.finish = why;
  whole.prompt_tokens = static_cast<std::uint32_t>(one.prompt.size());
  whole.cached_tokens = one.restored;
  tell_of_prefix(one);
  whole.how.mode = one.alone ? run_mode::exclusive : run_mode::continuous;
  whole.how.queued = one.started - one.submitted;
  if (one.first_token) {
    const auto fed = whole.prompt_tokens - whole.cached_tokens;
    const auto prefill = seconds(*one.first_token - one.opened);
    if (prefill > 0) whole.how.prompt_tokens_per_second = fed / prefill;
    const auto decode = seconds(one.last_token - *one.first_token);
    if (decode > 0 && whole.generation_tokens > 1)
      whole.how.generation_tokens_per_second = (whole.generation_tokens - 1) / decode;
    whole.how.ttft = *one.first_token - one.submitted;
  }
  finish(one, std::move(whole));
}

void scheduler::fail_batch(const error& why) {
  for (auto& one : batch_) {
    finish(*one, why);
    one->lost = true;
  }
}

}  // namespace evalcore::engine
