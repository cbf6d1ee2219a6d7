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
  if (!what.max_tokens && what.continuations.empty() && engine.context_tokens == 0) {
    return refused(refusal::invalid_request,
                   "max_tokens must be given: " + engine.name + " does not tell how much its context holds");
  }
  if (!what.continuations.empty() && !engine.scoring) {
    return refused(refusal::invalid_request, engine.name + " cannot score continuations");
  }
  if (!what.media.empty() && !engine.media) {
    return refused(refusal::invalid_request, engine.name + " takes no images");
  }
  return {};
}

/// Needs no memory itself: so short a string holds its own bytes.
error no_memory() { return fail(errc::no_memory, stage::body, "out of memory"); }

}  // namespace

scheduler::scheduler(const options& how, traits engine, prefix_cache* prefixes)
    : how_(how),
      engine_(std::move(engine)),
      prefixes_(prefixes),
      queue_(how.max_queue_size, whole_seconds(how.queue_timeout_s)),
      window_(std::chrono::milliseconds(how.batch_wait_ms)),
      waited_too_long_("waited " + std::to_string(std::lround(how.queue_timeout_s)) +
                       " s (queue_timeout_s) for its turn") {
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
  ticket given{one->id, one->out};
  queue_.push(std::move(one));
  ++counted_.submitted;
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
  if (auto fine = may_wait(); !fine) return std::move(fine).error();
  queue_.push(++last_control_);
  return last_control_;
}

result<control_id> scheduler::aside() {
  if (auto fine = may_wait(); !fine) return std::move(fine).error();
  queue_.push_aside(++last_control_);
  return last_control_;
}

result<void> scheduler::may_wait() {
  if (closing_) return refused(refusal::runtime_closed, "the engine is closed");
  if (!queue_.full()) return {};
  ++counted_.rejected;
  return refused(refusal::queue_full,
                 "the waiting queue is full (max_queue_size " + std::to_string(how_.max_queue_size) + ")");
}

void scheduler::close() {
  closing_ = true;
  while (queue_.take_aside()) {
  }
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
  if (const auto aside = queue_.take_aside()) return run_control{*aside};
  if (auto to_do = keep_prefix()) return *std::move(to_do);
  if (auto to_do = leave()) return *std::move(to_do);
  refill(now);
  if (const auto until = window_.open_until(now)) {
    const auto expiry = queue_.expires_at();
    return wait{expiry ? std::min(*until, *expiry) : *until};
  }
  if (auto to_do = begin_rows(now)) return *std::move(to_do);
  if (std::ranges::any_of(batch_, [](const auto& one) { return one->row.has_value(); })) {
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
  try {
    batch_.push_back(std::move(one));
  } catch (const std::bad_alloc&) {
    finish(*one, no_memory());  // It is where it was: in no list any more.
  }
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
  begin_at_prefix(one, row);
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
    began_at_prefix(one);
    return;
  }
  if (one.over()) return;
  if (row.error().code == errc::busy) {
    if (make_room_for(one)) return;
    if (!rows_.empty()) {
      no_room_ = true;
      return;
    }
  } else if (one.restored > 0) {
    one.kept_here.unrestorable = one.restored;
    return;
  }
  finish(one, std::move(row).error());
}

void scheduler::finish(job& one, result<answer>&& how) {
  if (one.over()) return;
  prefix_news_ = true;  // Nobody is to wait for it.
  auto& counter = how                                              ? counted_.completed
                  : how.error().detail == name(refusal::cancelled) ? counted_.cancelled
                                                                   : counted_.failed;
  ++counter;
  const bool was_ready = one.out->ready();
  one.out->end(std::move(how));
  heard(one, was_ready);
}

void scheduler::refuse(job& one, refusal why, std::string_view message) noexcept {
  try {
    finish(one, refused(why, std::string(message)));
  } catch (const std::bad_alloc&) {
    finish(one, no_memory());
  }
}

void scheduler::heard(const job& one, bool was_ready) noexcept {
  if (was_ready || !one.out->ready()) return;
  try {
    news_.push_back(one.id);
  } catch (const std::bad_alloc&) {
    news_lost_ = true;
  }
}

void scheduler::out_of_memory() noexcept {
  taking_.reset();
  at_cut_.clear();
  prefix_news_ = true;
  no_room_ = false;
  for (auto& one : batch_) {
    one->asked_to_leave = false;
    finish(*one, no_memory());
  }
}

void scheduler::expire(instant now) {
  while (const auto late = queue_.take_expired(now)) refuse(*late, refusal::queue_timeout, waited_too_long_);
}

statistics scheduler::stats() const {
  auto now = counted_;
  now.queued = static_cast<std::uint32_t>(queue_.size());
  now.active = static_cast<std::uint32_t>(batch_.size());
  now.closing = closing_;
  return now;
}

}  // namespace evalcore::engine
