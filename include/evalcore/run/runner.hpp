#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/probe.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/host_scorer.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/response_cache.hpp>
#include <evalcore/run/shard.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::run {

struct run_options {
  request_options request;
  /// How requests go out. A backend with slots may bound max_in_flight further.
  pool::options pool;
  bool suite_order = false;          ///< No planning.
  std::optional<std::size_t> limit;  ///< Only the first so many items of the suite.
  std::optional<shard> part;         ///< Only this part of those.
  row_labels labels;                 ///< For the store: who is named in the rows of a merge.
  std::string task;                  ///< Empty: the suite's.
  response_cache cache;              ///< For items that the store has no reply of.
  std::string options_json = "{}";   ///< For the store: what the user asked for, without secrets.
  /// For the store and the summary; absent: what is known without asking.
  std::optional<backend::probe_report> probe;
  std::optional<run::price> price;  ///< Of the model; absent: costs are not counted.
  /// Send nothing more once that could make all that was spent on this suite with this backend, earlier runs
  /// in the store included, exceed it. Needs `price`, and a bound on what each item can cost.
  std::optional<pico_usd> max_cost;
  /// Ask so many items twice, chosen by chance, always the same of the same suite and limit, more than there
  /// are for all; see summary::noise_floor. Second answers change no score and no count of items. They count
  /// as requests, tokens and costs, and the store keeps them as those of epoch 1.
  std::optional<std::size_t> noise_floor;
  /// The library's scorer in the place of the items' own, as score::find_scorer() takes it; empty: those.
  /// Empty with `scorer`.
  std::string scorer_named;
  /// Scores all replies in the place of the items' scorers; null: those do. A reply is in the store before it
  /// is asked for; one that has a score of a scorer of this name is not asked again. The run ends when all
  /// replies have one, or say that they get none, or it is stopped.
  std::shared_ptr<host_scorer> scorer;
};

/// Where a run stands. Waiting items are neither done nor running. Those that are asked twice count twice.
struct progress {
  std::uint64_t items = 0;
  std::uint64_t reused = 0;
  std::uint64_t done = 0;  ///< Answered or failed by this process.
  std::uint64_t running = 0;
  std::uint64_t retrying = 0;      ///< Failed and waiting to be sent again.
  std::optional<double> paused_s;  ///< Nothing is sent for so long, as all servers asked for that or failed.
  std::uint64_t errors = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t prompt_tokens = 0;
  std::optional<std::uint64_t> cached_tokens;  ///< Absent: the backend does not report it.
  double elapsed_s = 0;
};

struct observer {
  std::function<void(const std::string&)> note;     ///< A sentence for a person, now and then.
  std::function<void(const progress&)> progressed;  ///< After what came together, at least every 200 ms.
  /// Called with the pool once it runs, and with null before it goes, for a host that wants to change the
  /// bound on requests in flight meanwhile.
  std::function<void(pool::pool*)> pooled = {};
};

/// Runs a suite against one or more endpoints of the same model (at least one): takes from the store what it
/// has, plans the rest, sends it, commits and scores each reply as it arrives. Called from the host's thread;
/// the store and the scorers are used on it, the backend on the loop. When `stop` is requested, what is in
/// flight is cancelled and what is done is kept: the summary then says `interrupted`.
///
/// A request that fails for good makes its item errored; it does not end the run. A run that goes no further
/// for another reason (no endpoint left, the time limit, too many errors, a store that takes no more) says so
/// in summary::stopped.
/// Errors: bad_suite, storage (before anything was sent), cancelled (before anything was sent), or the
/// backend's while planning. The items are those that check_items() let pass.
[[nodiscard]] result<summary> run_suite(const suite& what, net::loop& owner,
                                        const std::vector<backend::backend*>& endpoints, store& into,
                                        const run_options& how, const observer& watch,
                                        const std::stop_token& stop);

}  // namespace evalcore::run
