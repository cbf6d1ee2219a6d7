#include "run/answers.hpp"

#include "run/host_scoring.hpp"

namespace evalcore::run {
namespace {

/// Of an item whose answer counts as such where `epoch` is 0, and else only beside another.
void count(run_state& of, std::size_t position, std::uint32_t epoch, const item& one,
           const score::scorer& scorer, const chat::reply& reply, const score::verdict& verdict) {
  if (epoch == 0) of.counts.verdict(one.category, scorer, verdict);
  if (of.asks_twice(position)) of.pairs->came(position, reply, verdict);
}

}  // namespace

std::optional<score::verdict> verdict_on(const prepared_item& what, const stored_reply& stored) {
  if (!is_hosts(*what.scorer)) return what.scorer->score(task_of(what.one), stored.reply);
  return stored.verdict && stored.verdict->scored ? stored.verdict : std::nullopt;
}

result<void> reuse_answer(run_state& of, std::size_t position, const prepared_item& what,
                          const stored_reply& stored) {
  const auto epoch = what.record.epoch;
  if (!stored.priced) of.costs.reused(what.request, stored.reply);
  if (epoch == 0) {
    of.told.reused += 1;
    of.counts.answer(stored.reply);
  }
  const auto verdict = verdict_on(what, stored);
  if (!verdict) return of.host->wants(position, what.one, what.record, stored.reply);
  if (auto kept = of.into.put_verdict(what.record, *verdict); !kept) return kept;
  count(of, position, epoch, what.one, *what.scorer, stored.reply, *verdict);
  return {};
}

result<void> put_answer(run_state& of, new_answer& what) {
  if (of.host != nullptr) return of.into.put_reply(what.record, what.attempt, what.reply);
  what.verdict = what.scorer->score(task_of(what.one), what.reply);
  return of.into.put_reply(what.record, what.attempt, what.reply, what.verdict);
}

result<void> count_answer(run_state& of, const new_answer& what) {
  if (what.record.epoch == 0) of.counts.answer(what.reply);
  if (of.host != nullptr) return of.host->wants(what.position, what.one, what.record, what.reply);
  count(of, what.position, what.record.epoch, what.one, *what.scorer, what.reply, what.verdict);
  return {};
}

}  // namespace evalcore::run
