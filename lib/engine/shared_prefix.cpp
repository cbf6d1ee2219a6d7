// What the scheduler does so that a prefix which several requests share is computed once.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "engine/scheduler.hpp"

namespace evalcore::engine {
namespace {

std::span<const token> first(const std::vector<token>& tokens, std::size_t count) {
  return std::span(tokens).first(count);
}

}  // namespace

void scheduler::plan_prefix(job& one) const {
  if (!one.what->share) return;
  one.whole.prefix = prefix_use{.key = one.what->share->key};
  if (!keeps_prefixes()) return;
  const auto& share = *one.what->share;
  one.salt = cache_salt(share.scope, share.key, one.alone ? row_layout::exclusive : row_layout::batch,
                        one.what->media);
  const auto length = static_cast<std::uint32_t>(one.prompt.size());
  if (!share.cuts) {
    one.cuts = {prefixes_->cut_before_end(length)};
  } else {
    for (const auto wanted : *share.cuts) one.cuts.push_back(prefixes_->cut(wanted, length));
  }
  std::erase(one.cuts, 0U);
  std::ranges::sort(one.cuts);
  const auto twice = std::ranges::unique(one.cuts);
  one.cuts.erase(twice.begin(), twice.end());
}

/// Its row begins at the longest snapshot that there is, but not at one that it could not be opened with.
void scheduler::begin_at_prefix(job& one, row_request& row) {
  one.restored = 0;
  if (one.salt.empty()) return;
  if (one.kept_here.unrestorable == 0) {
    auto found = prefixes_->find(one.salt, one.prompt);
    row.from = std::move(found.from);
    row.restored = one.restored = found.tokens;
  }
  std::ranges::copy_if(one.cuts, std::back_inserter(row.cuts),
                       [&](std::uint32_t cut) { return cut > one.restored; });
}

void scheduler::began_at_prefix(job& one) {
  if (one.salt.empty()) return;
  // What opens without its snapshot, and did not with it, had a bad one.
  if (one.kept_here.unrestorable > 0)
    prefixes_->drop(one.salt, first(one.prompt, one.kept_here.unrestorable));
  prefixes_->count_opened(one.restored);
  std::erase_if(one.cuts, [&](std::uint32_t cut) { return cut <= one.restored; });
}

/// What a row needs more than it may be worth to later ones: a snapshot that no row uses goes for it. That
/// which the row is to begin at goes only where nothing runs that could make room.
bool scheduler::make_room_for(const job& one) {
  if (prefixes_ == nullptr) return false;
  const auto own = rows_.empty() ? prefix_cache::hit{} : prefixes_->find(one.salt, one.prompt);
  return prefixes_->evict_oldest();
}

/// What its answer says of the prefixes that it should have had or left.
void scheduler::tell_of_prefix(job& one) {
  if (!one.whole.prefix) return;
  auto& told = *one.whole.prefix;
  told.degraded_reason = one.salt.empty()
                             ? no_prefixes_reason(engine_)
                             : degraded_reason(one.kept_here, one.whole.prompt_tokens, prefixes_->stats());
  if (told.degraded_reason.empty()) return;
  told.first_report =
      one.salt.empty() ? keys_without_.insert(told.key).second : prefixes_->first_report(told.key);
}

/// Whether a row computes more of this prompt than is kept now, and will stop where that can be kept.
bool scheduler::awaits_prefix(const job& one) const {
  if (one.salt.empty() || !one.may_wait || one.kept_here.unrestorable > 0) return false;
  const auto kept = prefixes_->longest(one.salt, one.prompt);
  return std::ranges::any_of(batch_, [&](const auto& other) {
    return other->row && !other->over() && other->salt == one.salt &&
           std::ranges::any_of(other->cuts, [&](std::uint32_t cut) {
             return cut > kept && cut < one.prompt.size() &&
                    std::ranges::equal(first(other->prompt, cut), first(one.prompt, cut));
           });
  });
}

/// Before the next step takes the rows on. A row that was cancelled is kept as well: others may wait for it.
std::optional<action> scheduler::keep_prefix() {
  while (!at_cut_.empty()) {
    const auto& one = *at_cut_.front();
    if (taking_) return take_snapshot{*one.row};
    // longest() leaves out a snapshot of the whole of what it is given.
    const auto with_next = first(one.prompt, one.processed + 1);
    if (prefixes_->longest(one.salt, with_next) < one.processed) return measure_snapshot{one.processed};
    cut_done(true);
  }
  return std::nullopt;
}

void scheduler::measured(const memory_report& memory, std::optional<std::uint64_t> bytes) {
  if (bytes && !prefixes_->make_room(*bytes, memory)) {
    at_cut_.front()->kept_here.count(kept::skipped);
    return cut_done(false);
  }
  taking_ = snapshot_under_way{.before = memory, .has_room = bytes.has_value()};
}

void scheduler::snapshot_taken(result<std::shared_ptr<const snapshot>> taken) {
  auto& one = *at_cut_.front();
  // An engine that has room for so many only: the oldest makes place, and it is asked again.
  if (!taken && taken.error().code == errc::busy && prefixes_->evict_oldest()) return;
  const auto was = *std::exchange(taking_, std::nullopt);
  auto outcome = kept::skipped;
  if (!taken) {
    outcome = prefixes_->reject();
  } else if (was.has_room || prefixes_->make_room((*taken)->bytes(), was.before)) {
    outcome = prefixes_->store(one.salt, first(one.prompt, one.processed), *std::move(taken));
  }
  one.kept_here.count(outcome);
  cut_done(outcome == kept::stored || outcome == kept::present);
}

/// Of the row that has stood longest at its cut. What is not kept is worth no wait: whoever shares it would
/// wait for the next row in vain.
void scheduler::cut_done(bool shared) {
  auto& one = *at_cut_.front();
  at_cut_.pop_front();
  std::erase_if(one.cuts, [&](std::uint32_t cut) { return cut <= one.processed; });
  prefix_news_ = true;
  if (shared) return;
  for (auto& other : batch_) {
    if (!other->row && other->salt == one.salt) other->may_wait = false;
  }
}

}  // namespace evalcore::engine
