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

result<void> keep_answer(run_state& of, std::size_t position, const item& one, const score::scorer& scorer,
                         const item_record& record, const attempt_record& attempt, const chat::reply& reply) {
  if (of.host != nullptr) {
    if (auto kept = of.into.put_reply(record, attempt, reply); !kept) return kept;
    if (auto asked = of.host->wants(position, one, record, reply); !asked) return asked;
  } else {
    const auto verdict = scorer.score(task_of(one), reply);
    if (auto kept = of.into.put_reply(record, attempt, reply, verdict); !kept) return kept;
    count(of, position, record.epoch, one, scorer, reply, verdict);
  }
  if (record.epoch == 0) of.counts.answer(reply);
  return {};
}

}  // namespace evalcore::run
