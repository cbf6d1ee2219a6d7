#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/probe.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/run/runner.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>

#include "commands.hpp"
#include "concurrency_keys.hpp"
#include "descriptors.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "outputs.hpp"
#include "progress_line.hpp"

namespace evalcore::cli {
namespace {

/// The suite's file name without its endings: two files of one task do not share a folder.
std::string name_of(const std::string& suite) {
  auto name = std::filesystem::path(suite).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

run::outputs output_paths(const run_arguments& arguments) {
  const auto usual = std::filesystem::path("out") / name_of(arguments.suite.suite);
  return run::outputs::in(arguments.out.empty() ? usual.string() : arguments.out, arguments.store);
}

run::row_labels labels_of(const run_arguments& arguments, const backend::info& about) {
  run::row_labels labels;
  labels.baseline = arguments.baseline;
  labels.model_name = arguments.model_name.empty() ? about.model : arguments.model_name;
  labels.model_path = arguments.backend.model.empty() ? about.model : arguments.backend.model;
  labels.model_step = arguments.model_step;
  return labels;
}

}  // namespace

result<int> run_command(const run_arguments& arguments, const std::stop_token& stop) {
  if (arguments.backend.selector.empty()) {
    return fail(errc::invalid_argument, stage::config,
                "name a model with --model FILE.gguf, or a backend with --backend: " + selector_names() +
                    " (`evalcore backends` says what each needs)");
  }
  const auto prices = run::open_prices(arguments.suite.price);
  if (!prices) return prices.error();
  auto suite = run::suite::open(arguments.suite.suite, arguments.suite.answers);
  if (!suite) return std::move(suite).error();
  const auto items = std::min(suite->size(), arguments.suite.limit.value_or(suite->size()));
  if (auto checked = run::check_items(*suite, items, false, arguments.scorer); !checked)
    return std::move(checked).error();
  const auto task = arguments.task.empty() ? suite->task() : arguments.task;
  const auto paths = output_paths(arguments);

  auto files = run::run_files::look(paths, arguments.cache.value_or(""));
  if (!files) return std::move(files).error();
  net::loop loop;
  progress_line shown(arguments.suite.quiet);
  const auto note = [&](const std::string& text) { shown.note(text); };
  auto backends = open_backends(loop, sized_for(arguments.backend, arguments.suite, items),
                                pool::patient(arguments.suite.pool.retry, note), stop);
  if (!backends) return std::move(backends).error();
  std::vector<backend::backend*> endpoints;
  for (const auto& one : *backends) endpoints.push_back(one.get());
  std::optional<run::price> price;
  if (*prices) {
    const auto found = (*prices)->find(endpoints.front()->about().model);
    if (!found) return found.error();
    price = *found;
  }
  std::optional<backend::probe_report> probe;
  if (arguments.probe) {
    auto report = backend::probe(loop, *endpoints.front(), {}, stop);
    if (!report) return std::move(report).error();
    if (!report->alive) return backend::no_answers(*report);
    probe = *std::move(report);
  }
  if (auto made = files->make(); !made) return std::move(made).error();

  run::run_options how;
  how.request = arguments.suite.request;
  if (!arguments.backend.base_urls.empty()) how.request.model = endpoints.front()->about().model;
  how.pool = arguments.suite.pool;
  how.pool.seed = std::random_device{}();
  pool::open_loop(how.pool, arguments.suite.concurrency_named);
  auto& bound = how.pool.adaptive ? how.pool.highest_tried : how.pool.max_in_flight;
  const auto wanted = bound;
  bound = sockets_for(wanted, endpoints.size());
  how.suite_order = arguments.suite.suite_order;
  how.limit = arguments.suite.limit;
  how.part = arguments.part;
  how.labels = labels_of(arguments, endpoints.front()->about());
  how.task = task;
  how.scorer_named = arguments.scorer;
  if (arguments.cache || arguments.cache_sampled) how.cache = files->cache(arguments.cache_sampled);
  how.options_json = arguments.as_given;
  how.noise_floor = arguments.noise_floor;
  how.probe = std::move(probe);
  how.price = price;
  if (arguments.max_cost_usd) {
    how.max_cost = static_cast<run::pico_usd>(std::llround(*arguments.max_cost_usd * 1e12));
  }

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
  auto ran = run::run_suite(*suite, loop, endpoints, files->own(), how, watch, stop);
  backends->clear();
  if (!ran) return std::move(ran).error();

  const auto written = write_outputs(*ran, how.labels, paths);
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
