#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <evalcore/backend/probe.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/runner.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>

#include "commands.hpp"
#include "concurrency_keys.hpp"
#include "descriptors.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "printable.hpp"
#include "progress_line.hpp"

namespace evalcore::cli {
namespace {

struct outputs {
  std::string folder;
  std::string store;
  std::string rows;
  std::string summary;
};

/// The suite's file name without its endings: two files of one task do not share a folder.
std::string name_of(const std::string& suite) {
  auto name = std::filesystem::path(suite).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

outputs output_paths(const run_arguments& arguments) {
  const std::filesystem::path folder = arguments.out.empty()
                                           ? std::filesystem::path("out") / name_of(arguments.suite.suite)
                                           : std::filesystem::path(arguments.out);
  return {folder.string(), arguments.store.empty() ? (folder / "run.db").string() : arguments.store,
          (folder / "rows.jsonl").string(), (folder / "summary.json").string()};
}

error no_folder(const outputs& paths, const std::string& why) {
  return fail(errc::storage, stage::store,
              "cannot make the folder " + paths.folder + ": " + why + "; name another with --out");
}

/// Whether the folder is there or could be made, without making it: a backend that cannot start leaves
/// nothing behind, and an hour of loading does not end in a folder that cannot be written.
result<void> check_folder(const outputs& paths) {
  std::error_code failed;
  auto existing = std::filesystem::absolute(paths.folder, failed).lexically_normal();
  while (!std::filesystem::exists(existing, failed) && existing.has_relative_path())
    existing = existing.parent_path();
  if (!std::filesystem::is_directory(existing, failed))
    return no_folder(paths, existing.string() + " is no folder");
  if (::access(existing.c_str(), W_OK) != 0)
    return no_folder(paths, existing.string() + " cannot be written");
  return {};
}

result<void> make_folder(const outputs& paths) {
  std::error_code failed;
  std::filesystem::create_directories(paths.folder, failed);
  if (!failed) return {};
  return no_folder(paths, failed.message());
}

/// The store that --cache names, unless that is the run's own. Must be there: a name that is mistyped would
/// make a new store, and everything would be sent.
result<std::optional<run::store>> open_cache(const std::string& named, const std::string& own) {
  if (named.empty()) return std::optional<run::store>();
  std::error_code absent;
  if (!std::filesystem::exists(named, absent)) {
    return fail(errc::not_found, stage::store,
                "there is no store " + named + " for --cache; without a name it reuses what " + own + " has");
  }
  if (std::filesystem::equivalent(named, own, absent)) return std::optional<run::store>();
  auto opened = run::store::open(named);
  if (!opened) return std::move(opened).error();
  return std::optional(*std::move(opened));
}

void print_report(const run::summary& of, const outputs& paths, bool written) {
  std::printf("%s: %llu items, %llu answered (%llu reused), %llu errors, %llu unscored",
              printable(of.task).c_str(), static_cast<unsigned long long>(of.items),
              static_cast<unsigned long long>(of.answered), static_cast<unsigned long long>(of.reused),
              static_cast<unsigned long long>(of.errors), static_cast<unsigned long long>(of.unscored));
  if (of.not_run > 0) std::printf(", %llu not run", static_cast<unsigned long long>(of.not_run));
  std::printf("\n");
  for (const auto& metric : of.metrics) {
    std::printf("%s%s%s: %.4f", printable(metric.category).c_str(), metric.category.empty() ? "" : " ",
                metric.metric.c_str(), metric.score());
    if (metric.scored < metric.items) {
      std::printf(" (missing items wrong; %.4f if they were right)", metric.upper_bound());
    }
    std::printf(" over %llu items\n", static_cast<unsigned long long>(metric.items));
  }
  for (const auto& [code, count] : of.errors_by_class) {
    std::printf("errored, %s: %llu\n", code.c_str(), static_cast<unsigned long long>(count));
  }
  for (const auto& [field, count] : of.dropped) {
    std::printf("answered without %s, for which the backend has no place: %llu\n", field.c_str(),
                static_cast<unsigned long long>(count));
  }
  if (of.cut_by_length > 0 || of.empty_answers > 0) {
    std::printf("answers cut by max_tokens: %llu, empty: %llu\n",
                static_cast<unsigned long long>(of.cut_by_length),
                static_cast<unsigned long long>(of.empty_answers));
  }
  if (of.unknown_finish > 0) {
    std::printf("answers whose end the backend does not explain: %llu\n",
                static_cast<unsigned long long>(of.unknown_finish));
  }
  if (of.possibly_paid_twice > 0) {
    std::printf("possibly paid twice: %llu (requests that were out when an earlier run was killed)\n",
                static_cast<unsigned long long>(of.possibly_paid_twice));
  }
  if (of.sent > 0) {
    std::printf("%s\n", run::prefix_line(of).c_str());
    std::printf("wall %.2f s, %.2f items/s", of.wall_s,
                of.wall_s > 0 ? static_cast<double>(of.answered - of.reused) / of.wall_s : 0.0);
    if (of.mean_ttft_s) std::printf(", mean TTFT %.2f s", *of.mean_ttft_s);
    std::printf("\n");
  }
  if (of.not_saved > 0) {
    std::printf("answers that had come and are not saved: %llu (they are asked again)\n",
                static_cast<unsigned long long>(of.not_saved));
  }
  if (!written) {
    std::printf("no summary could be written\n");
  } else if (of.interrupted || !of.stopped.empty()) {
    std::printf("wrote %s, %s; no rows, since the run is not whole\n", paths.summary.c_str(),
                paths.store.c_str());
  } else {
    std::printf("wrote %s, %s, %s\n", paths.summary.c_str(), paths.rows.c_str(), paths.store.c_str());
  }
}

result<void> write_outputs(const run::summary& of, const run_arguments& arguments, const outputs& paths) {
  run::row_labels labels;
  labels.baseline = arguments.baseline;
  labels.model_name = arguments.model_name.empty() ? of.backend.model : arguments.model_name;
  labels.model_path = arguments.backend.model.empty() ? of.backend.model : arguments.backend.model;
  labels.model_step = arguments.model_step;
  labels.timestamp = run::timestamp(run::unix_ms_now());
  std::string lines;
  for (const auto& one : run::rows_of(of, labels)) lines += run::to_line(one);
  // Rows have no place to say that items were not run.
  if (!of.interrupted && of.stopped.empty()) {
    if (auto written = run::write_file_atomically(paths.rows, lines); !written) return written;
  }
  return run::write_file_atomically(paths.summary, run::to_json(of));
}

error no_answers(const backend::probe_report& of) {
  const auto* chat = of.find("chat");
  return fail(errc::transport, stage::start,
              of.about.selector + " gives no answers" +
                  (chat == nullptr ? "" : "; a plain request: " + chat->evidence));
}

}  // namespace

result<int> run_command(const run_arguments& arguments, const std::stop_token& stop) {
  if (arguments.backend.selector.empty()) {
    return fail(
        errc::invalid_argument, stage::config,
        "name a backend with --backend: " + selector_names() + " (`evalcore backends` says what each needs)");
  }
  auto suite = run::suite::open(arguments.suite.suite, arguments.suite.answers);
  if (!suite) return std::move(suite).error();
  const auto items = std::min(suite->size(), arguments.suite.limit.value_or(suite->size()));
  if (auto checked = run::check_items(*suite, items); !checked) return std::move(checked).error();
  const auto task = arguments.task.empty() ? suite->task() : arguments.task;
  const auto paths = output_paths(arguments);

  // An existing store is opened first, so that one in use is told before a model is loaded; a new one is
  // made last, so that a backend that cannot start leaves nothing behind.
  std::optional<run::store> store;
  const auto open_store = [&]() -> result<void> {
    auto opened = run::store::open(paths.store);
    if (!opened) return std::move(opened).error();
    store = *std::move(opened);
    return {};
  };
  std::error_code unseen;  // Opening it says why.
  if (std::filesystem::exists(paths.store, unseen)) {
    if (auto opened = open_store(); !opened) return std::move(opened).error();
  }
  const auto other = open_cache(arguments.cache.value_or(""), paths.store);
  if (!other) return other.error();
  if (auto usable = check_folder(paths); !usable) return std::move(usable).error();
  net::loop loop;
  progress_line shown(arguments.suite.quiet);
  const auto note = [&](const std::string& text) { shown.note(text); };
  auto backends =
      open_backends(loop, arguments.backend, pool::patient(arguments.suite.pool.retry, note), stop);
  if (!backends) return std::move(backends).error();
  std::vector<backend::backend*> endpoints;
  for (const auto& one : *backends) endpoints.push_back(one.get());
  std::optional<backend::probe_report> probe;
  if (arguments.probe) {
    auto report = backend::probe(loop, *endpoints.front(), {}, stop);
    if (!report) return std::move(report).error();
    if (!report->alive) return no_answers(*report);
    probe = *std::move(report);
  }
  if (auto made = make_folder(paths); !made) return std::move(made).error();
  if (!store) {
    if (auto opened = open_store(); !opened) return std::move(opened).error();
  }

  run::run_options how;
  how.request = arguments.suite.request;
  if (!arguments.backend.base_urls.empty()) how.request.model = endpoints.front()->about().model;
  how.pool = arguments.suite.pool;
  how.pool.seed = std::random_device{}();
  constexpr std::uint32_t open_loop = 1'024;
  if (how.pool.dispatch_rate > 0 && !arguments.suite.concurrency_named) how.pool.max_in_flight = open_loop;
  auto& bound = how.pool.adaptive ? how.pool.highest_tried : how.pool.max_in_flight;
  const auto wanted = bound;
  bound = sockets_for(wanted, endpoints.size());
  how.suite_order = arguments.suite.suite_order;
  how.limit = arguments.suite.limit;
  how.task = task;
  if (arguments.cache || arguments.cache_sampled) how.cache = {{&*store}, arguments.cache_sampled};
  if (*other) how.cache.stores.push_back(&**other);
  how.options_json = arguments.as_given;
  how.probe = std::move(probe);

  if (bound < wanted) {
    shown.note("at most " + std::to_string(bound) +
               " requests in flight, since this process may open no more " +
               "files; `ulimit -n` sets the bound");
  }
  concurrency_keys change(bound, arguments.suite.quiet, shown);
  const run::observer watch{.note = note,
                            .progressed =
                                [&](const run::progress& at) {
                                  change.look();
                                  shown.show(at);
                                },
                            .pooled = [&](pool::pool* running) { change.of(running); }};
  auto ran = run::run_suite(*suite, loop, endpoints, *store, how, watch, stop);
  backends->clear();
  if (!ran) return std::move(ran).error();

  const auto written = write_outputs(*ran, arguments, paths);
  if (!written && ran->stopped.empty()) return written.error();
  shown.clear();
  if (arguments.suite.json) {
    std::fputs(run::to_json(*ran).c_str(), stdout);
  } else {
    print_report(*ran, paths, written.has_value());
  }
  if (!written) shown.note(written.error().message);
  if (ran->interrupted) {
    shown.note("interrupted with " + std::to_string(ran->answered) + " of " + std::to_string(ran->items) +
               " items done and kept in " + paths.store + "; the same command again goes on from there");
    return exit_status::interrupted;
  }
  if (!ran->stopped.empty()) {
    shown.note("stopped with " + std::to_string(ran->answered) + " of " + std::to_string(ran->items) +
               " items done: " + ran->stopped + "; the same command again goes on from there");
    return exit_status::items_errored;
  }
  if (ran->errors > 0) {
    shown.note(std::to_string(ran->errors) +
               " items errored and count as missing; the same command again runs " + "only those");
    return exit_status::items_errored;
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
