#include <evalcore/run/merge.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>

#include "run/answer_pairs.hpp"
#include "run/answers.hpp"
#include "run/merge_parts.hpp"
#include "run/merge_store.hpp"
#include "run/prepared_item.hpp"
#include "run/setup.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

backend::info about_of(const part& first) {
  backend::info about;
  const auto probe = json::parse(first.run.probe);
  const auto text = [&](std::string_view key) {
    const auto* held = probe ? probe->find(key) : nullptr;
    const auto* found = held != nullptr ? held->if_string() : nullptr;
    return found != nullptr ? *found : std::string();
  };
  const auto number = [&](std::string_view key) -> std::optional<std::uint64_t> {
    const auto* held = probe ? probe->find(key) : nullptr;
    const auto* found = held != nullptr ? held->if_int() : nullptr;
    return found != nullptr ? std::optional(static_cast<std::uint64_t>(*found)) : std::nullopt;
  };
  about.selector = text("selector");
  about.dialect = text("dialect");
  about.model = text("model");
  if (const auto slots = number("slots")) about.slots = static_cast<std::uint32_t>(*slots);
  about.context_per_slot = number("context_per_slot");
  about.identity = identity_texts(first.run);
  return about;
}

class merging {
 public:
  merging(const merge_options& how, suite what, std::vector<part> parts)
      : how_(how), suite_(std::move(what)), parts_(std::move(parts)), setup_(parts_.front().setup) {}

  result<merged_run> run() {
    auto found = scorer_of(setup_);
    if (!found) return std::move(found).error();
    scorers_ = item_scorers(*std::move(found));
    begin_summary();
    if (auto copied = copy(); !copied) return std::move(copied).error();
    auto counted = count();
    if (!counted) {
      remove_store(how_.into);
      return std::move(counted).error();
    }
    return std::move(out_);
  }

 private:
  void begin_summary() {
    auto& of = out_.what;
    of.run_id = new_run_id();
    of.suite_path = suite_.path();
    of.suite_hash = suite_.hash();
    of.task = setup_.task;
    of.backend = about_of(parts_.front());
    of.probe.about = of.backend;
    of.order = setup_.order;
    of.tools = setup_.tools;
    of.concurrency = setup_.concurrency;
    of.adaptive = setup_.adaptive;
    of.items = std::min<std::uint64_t>(suite_.size(), setup_.items);
    for (const auto& one : parts_) {
      of.wall_s = std::max(of.wall_s, one.run.wall_s);
      if (one.setup.tools != "none") of.tools = one.setup.tools;
    }
    out_.labels = setup_.labels;
    if (!setup_.noise_floor) return;
    twice_ = choose_for_second(suite_, of.items, *setup_.noise_floor);
    pairs_.emplace(of.noise_floor.emplace());
    of.noise_floor->run_items = of.items;
  }

  result<prepared_item> read(std::size_t index, std::uint32_t epoch = 0) {
    return read_item(suite_, index, setup_.request, out_.what.backend.identity, epoch, scorers_);
  }
  [[nodiscard]] bool asks_twice(std::size_t index) const { return pairs_ && twice_[index]; }

  result<void> copy() {
    auto store = merge_store::create(how_.into);
    if (!store) return std::move(store).error();
    for (std::size_t index = 0; index < out_.what.items; ++index) {
      auto what = read(index);
      if (!what) return std::move(what).error();
      if (auto wanted = store->want(what->record); !wanted) return wanted;
      if (!asks_twice(index)) continue;
      auto second = read(index, second_epoch);
      if (!second) return std::move(second).error();
      if (auto wanted = store->want(second->record); !wanted) return wanted;
    }
    for (const auto& one : parts_) {
      if (auto added = store->add(one.path); !added) return added;
    }
    auto attempts = store->attempts();
    if (!attempts) return std::move(attempts).error();
    history_ = *std::move(attempts);
    store->keep();
    return {};
  }

  result<void> count() {
    auto store = store::open(how_.into);
    if (!store) return std::move(store).error();
    for (std::size_t index = 0; index < out_.what.items; ++index) {
      auto what = read(index);
      if (!what) return std::move(what).error();
      if (auto counted = count_item(index, *what, *store); !counted) return counted;
      if (!asks_twice(index)) continue;
      if (auto counted = count_second(index, *store); !counted) return counted;
    }
    auto twice = store->possibly_paid_twice();
    if (!twice) return std::move(twice).error();
    out_.what.possibly_paid_twice = *twice;
    if (auto counted = count_cost(*store); !counted) return counted;
    finish_counts();
    return keep(*store);
  }

  result<void> count_second(std::size_t index, const store& from) {
    auto what = read(index, second_epoch);
    if (!what) return std::move(what).error();
    auto stored = from.find(what->record);
    if (!stored) return std::move(stored).error();
    out_.what.noise_floor->items += 1;
    if (!*stored) {
      count_last_failure(what->record);
      return {};
    }
    const auto& reply = (*stored)->reply;
    pairs_->came(index, reply, verdict_on(*what, **stored).value_or(score::verdict{}));
    tally_.tokens(reply, (*stored)->predicted_cached_tokens);
    return {};
  }

  result<void> count_item(std::size_t index, const prepared_item& what, const store& from) {
    const auto& [one, scorer, request, record] = what;
    tally_.item(one, *scorer);
    auto stored = from.find(record);
    if (!stored) return std::move(stored).error();
    if (*stored) {
      const auto& reply = (*stored)->reply;
      const auto verdict = verdict_on(what, **stored).value_or(score::verdict{});
      tally_.answer(reply);
      tally_.verdict(one.category, *scorer, verdict);
      if (asks_twice(index)) pairs_->came(index, reply, verdict);
      tally_.tokens(reply, (*stored)->predicted_cached_tokens);
      return {};
    }
    const auto code = count_last_failure(record);
    if (code.empty() || code == name(errc::cancelled)) {
      out_.missing.push_back(one.id);
    } else {
      out_.what.errors += 1;
      out_.what.errors_by_class[code] += 1;
    }
    return {};
  }

  /// Of an item that has no reply: not sent again after it. Empty: it did not fail.
  std::string count_last_failure(const item_record& one) {
    const auto failed = history_.last_failure.find(one.item_key);
    if (failed == history_.last_failure.end() || failed->second.empty()) return {};
    failed_for_good_[failed->second] += 1;
    return failed->second;
  }

  result<void> count_cost(const store& from) {
    const bool same =
        std::ranges::all_of(parts_, [&](const part& one) { return one.setup.price == setup_.price; });
    if (!same || !setup_.price) return {};
    auto spent = from.spent(out_.what.suite_hash, out_.what.backend.identity);
    if (!spent) return std::move(spent).error();
    out_.what.cost = cost_summary{*setup_.price, *spent, *spent, std::nullopt};
    return {};
  }

  void finish_counts() {
    auto& of = out_.what;
    of.not_run = out_.missing.size();
    of.sent = history_.attempts;
    of.retried = history_.attempts - history_.items;
    of.retries_by_class = history_.failed_attempts;
    for (const auto& [code, failures] : failed_for_good_) {
      if ((of.retries_by_class[code] -= failures) == 0) of.retries_by_class.erase(code);
    }
    if (of.not_run > 0) of.stopped = "items are in none of the merged files";
  }

  result<void> keep(store& into) {
    const auto& of = out_.what;
    run_record record;
    record.run_id = of.run_id;
    record.suite_path = of.suite_path;
    record.suite_hash = of.suite_hash;
    record.identity = of.backend.identity;
    record.options_json = how_.options_json;
    record.plan_json = "{}";
    record.started_unix_ms = unix_ms_now();
    record.probe_json = parts_.front().run.probe;
    auto whole = setup_;
    whole.shard.clear();
    record.setup_json = to_json(whole);
    if (auto begun = into.begin_run(record); !begun) return begun;
    if (auto done = into.finish_run(of.run_id, to_json(of)); !done) return done;
    return into.sync();
  }

  const merge_options& how_;
  suite suite_;
  std::vector<part> parts_;
  run_setup setup_;  ///< The first part's.
  item_scorers scorers_;
  merged_run out_;
  merge_store::history history_;
  std::map<std::string, std::uint64_t> failed_for_good_;  ///< By class, second requests included.
  tally tally_{out_.what};
  std::vector<bool> twice_;  ///< By position, whether an item was asked twice.
  std::optional<answer_pairs> pairs_;
};

}  // namespace

result<merged_run> merge(const merge_options& how) {
  auto parts = read_parts(how.parts);
  if (!parts) return std::move(parts).error();
  if (parts->empty()) return fail(errc::invalid_argument, stage::config, "name at least one run file");
  auto suite = open_suite(parts->front(), how.suite, how.answers);
  if (!suite) return std::move(suite).error();
  return merging(how, *std::move(suite), *std::move(parts)).run();
}

}  // namespace evalcore::run
