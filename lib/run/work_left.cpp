#include "run/work_left.hpp"

#include <optional>
#include <string>
#include <utility>

#include <evalcore/run/ids.hpp>
#include <evalcore/run/response_cache.hpp>

#include "run/answers.hpp"
#include "run/prepared_item.hpp"

namespace evalcore::run {
namespace {

/// The reply that stands in for the backend's, which may be greedy without a word of it in the request.
result<std::optional<earlier_reply>> stand_in(const run_state& of, const prepared_item& what) {
  if (of.how.cache.stores.empty()) return std::optional<earlier_reply>();
  auto in = of.how.cache;
  in.sampled = in.sampled || (of.told.backend.greedy_by_default && !what.request.params.temperature);
  return find_earlier(in, what.record.cache_key, what.request);
}

/// Records that are held until their items are sent, some 300 bytes each.
constexpr std::size_t most_records = 4'096;

result<void> look_for(run_state& of, std::size_t index, prepared_item& what, work_left& into) {
  auto stored = of.into.find(what.record);
  if (!stored) return std::move(stored).error();
  if (*stored) return reuse_answer(of, index, what, **stored);
  auto earlier = stand_in(of, what);
  if (!earlier) return std::move(earlier).error();
  if (*earlier) {
    into.cached.push_back(index);
    return {};
  }
  if (auto payable = of.costs.payable(what.one.id, what.request); !payable) return payable;
  into.pending.push_back(static_cast<std::uint32_t>(index));
  if (of.records.size() < most_records) of.records.emplace(index, std::move(what.record));
  return {};
}

/// No response cache: what an earlier request was given says nothing of how this one would be answered.
result<void> look_for_second(run_state& of, std::size_t index, work_left& into) {
  auto what = of.read(index, second_epoch);
  if (!what) return std::move(what).error();
  auto stored = of.into.find(what->record);
  if (!stored) return std::move(stored).error();
  if (*stored) return reuse_answer(of, index, *what, **stored);
  if (auto payable = of.costs.payable(what->one.id, what->request); !payable) return payable;
  into.seconds.push_back(static_cast<std::uint32_t>(index));
  return {};
}

/// What the store knows beside replies.
result<void> read_history(run_state& of, work_left& into) {
  auto runs = of.into.runs();
  if (!runs) return std::move(runs).error();
  into.seen_before = *runs > 0 || !into.cached.empty();
  auto twice = of.into.possibly_paid_twice();
  if (!twice) return std::move(twice).error();
  of.told.possibly_paid_twice = *twice;
  if (!of.told.cost) return {};
  auto spent = of.into.spent(of.told.suite_hash, of.told.backend.identity);
  if (!spent) return std::move(spent).error();
  of.told.cost->spent += *spent;
  return {};
}

}  // namespace

result<work_left> look_into_store(run_state& of, const std::vector<std::size_t>* own) {
  work_left out;
  std::uint64_t sampled = 0;
  for (std::size_t at = 0; at < of.told.items; ++at) {
    const auto index = own != nullptr ? (*own)[at] : at;
    auto what = of.read(index);
    if (!what) return std::move(what).error();
    out.any_tools = out.any_tools || !what->one.request.tools.empty();
    of.counts.item(what->one, *what->scorer);
    const auto pending = out.pending.size();
    if (auto looked = look_for(of, index, *what, out); !looked) return std::move(looked).error();
    const bool samples = what->request.choices.empty() && !what->request.params.temperature;
    if (out.pending.size() > pending && samples) sampled += 1;
    if (!of.asks_twice(index)) continue;
    of.told.noise_floor->items += 1;
    if (auto looked = look_for_second(of, index, out); !looked) return std::move(looked).error();
  }
  if (sampled > 0 && !of.told.backend.greedy_by_default) {
    of.watch.note(std::to_string(sampled) + " of " + std::to_string(out.pending.size()) +
                  " items are sent without a temperature, so the backend's default holds and may sample; "
                  "--temperature 0 makes them greedy");
  }
  if (auto history = read_history(of, out); !history) return std::move(history).error();
  return out;
}

result<void> take_cached(run_state& of, const std::vector<std::size_t>& positions) {
  for (const auto index : positions) {
    auto what = of.read(index);
    if (!what) return std::move(what).error();
    auto earlier = stand_in(of, *what);
    if (!earlier) return std::move(earlier).error();
    auto& [reply, run_id] = earlier->value();
    new_answer answer{.position = index,
                      .one = std::move(what->one),
                      .scorer = std::move(what->scorer),
                      .record = std::move(what->record),
                      .attempt = {.started_unix_ms = unix_ms_now(),
                                  .cost = of.costs.sent(0),
                                  .answered_by = std::move(run_id)},
                      .reply = std::move(reply)};
    if (auto kept = put_answer(of, answer); !kept) return kept;
    if (auto counted = count_answer(of, answer); !counted) return counted;
    of.told.reused += 1;
    of.told.stood_in += 1;
  }
  return {};
}

}  // namespace evalcore::run
