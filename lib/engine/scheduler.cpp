#include "engine/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace evalcore::engine {
namespace {

duration whole_seconds(double count) {
  // Beyond a century the clock would overflow.
  constexpr double century = 3.2e9;
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>(std::min(count, century)));
}

result<void> check(const request& what, const traits& engine) {
  if (auto fine = engine::check(what); !fine) return fine;
  if (!what.continuations.empty() && !engine.scoring) {
    return refused(refusal::invalid_request, engine.name + " cannot score continuations");
  }
  if (!what.media.empty() && !engine.media) {
    return refused(refusal::invalid_request, engine.name + " takes no images");
  }
  return {};
}

}  // namespace

scheduler::scheduler(const options& how, traits engine, prefix_cache* prefixes)
    : how_(how),
      engine_(std::move(engine)),
      prefixes_(prefixes),
      queue_(how.max_queue_size, whole_seconds(how.queue_timeout_s)),
      window_(std::chrono::milliseconds(how.batch_wait_ms)) {
  counted_.max_batch_size = how.max_batch_size;
  counted_.max_queue_size = how.max_queue_size;
}

result<scheduler::ticket> scheduler::submit(request what, bool cancelled, instant now) {
  if (auto fine = check(what, engine_); !fine) return std::move(fine).error();
  if (closing_) return refused(refusal::runtime_closed, "the engine is closed");
  if (cancelled) return refused(refusal::cancelled, "cancelled before it was admitted");
  expire(now);
  if (queue_.full()) {
    ++counted_.rejected;
    return refused(refusal::queue_full, "the waiting queue is full (max_queue_size " +
                                            std::to_string(how_.max_queue_size) +
                                            "); send it again when requests have ended");
  }
  auto one = std::make_unique<job>(++last_job_, std::move(what), how_.output_queue_size, now);
  one->alone = !batchable(*one->what, engine_, how_.per_row_sampling);
  ++counted_.submitted;
  ticket given{one->id, one->out};
  queue_.push(std::move(one));
  return given;
}

bool scheduler::cancel(job_id which) {
  if (auto waiting = queue_.withdraw(which)) {
    refuse(*waiting, refusal::cancelled, "cancelled while it waited");
    return false;
  }
  for (auto& one : batch_) {
    if (one->id != which || one->over()) continue;
    one->out->suppress();
    refuse(*one, refusal::cancelled, "cancelled while it ran");
    return one->row.has_value();
  }
  return false;
}

result<control_id> scheduler::control() {
  if (closing_) return refused(refusal::runtime_closed, "the engine is closed");
  if (queue_.full()) {
    ++counted_.rejected;
    return refused(refusal::queue_full,
                   "the waiting queue is full (max_queue_size " + std::to_string(how_.max_queue_size) + ")");
  }
  queue_.push(++last_control_);
  return last_control_;
}

void scheduler::close() {
  closing_ = true;
  while (!queue_.empty()) {
    if (queue_.take_control()) continue;
    refuse(*queue_.take_job(), refusal::cancelled, "the engine was closed before it ran");
  }
  for (auto& one : batch_) {
    if (one->over()) continue;
    one->out->suppress();
    refuse(*one, refusal::cancelled, "the engine was closed before its end");
  }
}

action scheduler::next(instant now) {
  expire(now);
  if (auto to_do = keep_prefix()) return *std::move(to_do);
  if (auto to_do = leave()) return *std::move(to_do);
  refill(now);
  if (const auto until = window_.open_until(now)) {
    const auto expiry = queue_.expires_at();
    return wait{expiry ? std::min(*until, *expiry) : *until};
  }
  if (auto to_do = begin_rows(now)) return *std::move(to_do);
  if (!rows_.empty()) {
    return run_step{mode_ == run_mode::exclusive ? 1 : how_.max_width.value_or(how_.max_batch_size)};
  }
  if (closing_) {
    counted_.closed = true;
    return stopped{};
  }
  if (const auto control = queue_.take_control()) return run_control{*control};
  return wait{queue_.expires_at()};
}

/// Rows of requests that have ended go first: their places are wanted.
std::optional<action> scheduler::leave() {
  for (auto& one : batch_) {
    if (!one->row || !one->over() || one->asked_to_leave) continue;
    one->asked_to_leave = true;
    at_ = one.get();
    return remove_row{*one->row};
  }
  std::erase_if(batch_, [](const auto& one) { return one->over() && !one->row; });
  return std::nullopt;
}

void scheduler::removed(bool gone) {
  if (gone || at_->lost) row_gone(*at_);
}

void scheduler::row_gone(job& one) {
  rows_.erase(*one.row);
  one.row.reset();
  no_room_ = false;
  prefix_news_ = true;
}

void scheduler::refill(instant now) {
  if (closing_) return;
  if (batch_.empty()) {
    window_.shut();
    const auto* first = queue_.first_job();
    if (first == nullptr) return;
    mode_ = first->alone ? run_mode::exclusive : run_mode::continuous;
    keyed_ = first->what->share.has_value();
    take_first(now);
    window_.open(now);
  }
  while (const auto* first = queue_.first_job()) {
    if (batch_.size() >= places() || !may_join(*first)) break;
    take_first(now);
  }
  if (batch_.size() >= places() || !queue_.empty()) window_.shut();
}

std::size_t scheduler::places() const noexcept {
  if (mode_ == run_mode::exclusive) return 1;
  return std::max<std::size_t>(1, std::min(how_.max_batch_size, engine_.max_rows));
}

bool scheduler::may_join(const job& one) const noexcept {
  return !one.alone && one.what->share.has_value() == keyed_;
}

void scheduler::take_first(instant now) {
  auto one = queue_.take_job();
  one->started = now;
  batch_.push_back(std::move(one));
}

std::optional<action> scheduler::begin_rows(instant now) {
  for (auto& one : batch_) {
    if (one->over() || one->row || !one->prompt.empty()) continue;
    at_ = one.get();
    return prepare_prompt{one->what};
  }
  if (no_room_ || rows_.size() == batch_.size()) return std::nullopt;
  const bool look_again = std::exchange(prefix_news_, false);
  for (auto& one : batch_) {
    if (one->over() || one->row || (one->waits && !look_again)) continue;
    one->waits = awaits_prefix(*one);
    if (one->waits) continue;
    at_ = one.get();
    one->opened = now;
    // Whoever stands behind may have to wait for what this one computes.
    prefix_news_ = look_again;
    return row_for(*one);
  }
  return std::nullopt;
}

void scheduler::prepared(result<prepared_prompt> prompt) {
  if (at_->over()) return;
  if (!prompt) return finish(*at_, std::move(prompt).error());
  if (prompt->tokens.empty()) return refuse(*at_, refusal::invalid_request, "the prompt has no token");
  at_->prompt = std::move(prompt->tokens);
  at_->whole.template_name = std::move(prompt->template_name);
  at_->whole.template_warning = std::move(prompt->warning);
  plan_prefix(*at_);
}

open_row scheduler::row_for(job& one) {
  row_request row;
  row.prompt = one.prompt;
  if (!one.salt.empty()) {
    auto found = prefixes_->find(one.salt, one.prompt);
    row.from = std::move(found.from);
    row.restored = found.tokens;
    std::erase_if(one.cuts, [&](std::uint32_t cut) { return cut <= found.tokens; });
    row.cuts = one.cuts;
  }
  one.restored = row.restored;
  // A prompt that fills the context is refused by the engine, in its own words.
  const auto room = std::max<std::size_t>(engine_.context_tokens, one.prompt.size() + 1) - one.prompt.size();
  const auto default_tokens = one.what->continuations.empty() ? static_cast<std::uint32_t>(room) : 1;
  one.max_tokens = one.what->max_tokens.value_or(default_tokens);
  row.max_tokens = one.max_tokens;
  row.how = one.what->how;
  row.logprobs = one.what->logprobs || one.what->top_logprobs > 0;
  row.top_logprobs = one.what->top_logprobs;
  row.continuations = one.what->continuations;
  row.media = one.what->media;
  return {std::move(row)};
}

void scheduler::opened(result<row_id> row, instant now) {
  auto& one = *at_;
  if (row) {
    one.row = *row;
    rows_.emplace(*row, &one);
    one.opened = now;
    one.processed = one.restored;
    return;
  }
  if (row.error().code == errc::busy && !one.over()) {
    if (!rows_.empty()) {
      no_room_ = true;
      return;
    }
    if (prefixes_ != nullptr && prefixes_->evict_oldest()) return;
  }
  finish(one, std::move(row).error());
}

void scheduler::stepped(const result<void>& outcome, const step_output& out, instant now) {
  at_cut_.clear();
  for (auto& one : batch_) one->asked_to_leave = false;
  if (!outcome) return fail_batch(outcome.error());
  for (const auto& one : out.prefill) saw(one);
  for (const auto& one : out.tokens) got(one, now);
  for (const auto& one : out.scores) got(one, now);
  std::erase_if(at_cut_, [](const job* one) { return !one->row; });
  if (out.prefill.empty() && out.tokens.empty() && out.scores.empty() && !out.interrupted) {
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
  if (at.at_cut && !one->cuts.empty()) at_cut_.push_back(one);
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
  if (!one->first_token) one->first_token = now;
  one->last_token = now;
  auto& scores = one->whole.scores;
  scores.resize(one->what->continuations.size());
  if (one_of.continuation < scores.size()) scores[one_of.continuation] = one_of;
  if (one_of.last) complete(*one, chat::finish_reason::stop);
}

void scheduler::complete(job& one, chat::finish_reason why) {
  auto& whole = one.whole;
  whole.finish = why;
  whole.prompt_tokens = static_cast<std::uint32_t>(one.prompt.size());
  whole.cached_tokens = one.restored;
  if (!one.salt.empty()) {
    whole.prefix->degraded_reason = degraded_reason(one.kept_here, whole.prompt_tokens, prefixes_->stats());
  }
  whole.how.mode = one.alone ? run_mode::exclusive : run_mode::continuous;
  whole.how.queued = one.started - one.submitted;
  if (one.first_token) {
    const auto fed = whole.prompt_tokens - whole.cached_tokens;
    const auto prefill = seconds(*one.first_token - one.opened);
    if (prefill > 0) whole.how.prompt_tokens_per_second = fed / prefill;
    const auto decode = seconds(one.last_token - *one.first_token);
    if (decode > 0) whole.how.generation_tokens_per_second = (whole.generation_tokens - 1) / decode;
    whole.how.ttft = *one.first_token - one.submitted;
  }
  finish(one, std::move(whole));
}

void scheduler::finish(job& one, result<answer>&& how) {
  if (one.over()) return;
  auto& counter = how                                              ? counted_.completed
                  : how.error().detail == name(refusal::cancelled) ? counted_.cancelled
                                                                   : counted_.failed;
  ++counter;
  const bool was_ready = one.out->ready();
  one.out->end(std::move(how));
  heard(one, was_ready);
}

void scheduler::refuse(job& one, refusal why, std::string message) {
  finish(one, refused(why, std::move(message)));
}

void scheduler::fail_batch(const error& why) {
  for (auto& one : batch_) {
    finish(*one, why);
    one->lost = true;
  }
}

void scheduler::heard(const job& one, bool was_ready) {
  if (!was_ready && one.out->ready()) news_.push_back(one.id);
}

void scheduler::expire(instant now) {
  while (const auto late = queue_.take_expired(now)) {
    refuse(
        *late, refusal::queue_timeout,
        "waited " + std::to_string(std::lround(how_.queue_timeout_s)) + " s (queue_timeout_s) for its turn");
  }
}

statistics scheduler::stats() const {
  auto now = counted_;
  now.queued = static_cast<std::uint32_t>(queue_.size());
  now.active = static_cast<std::uint32_t>(batch_.size());
  now.closing = closing_;
  return now;
}

}  // namespace evalcore::engine
