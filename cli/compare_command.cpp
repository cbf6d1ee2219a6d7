#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/comparison.hpp>
#include <evalcore/run/scored_runs.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "run_store.hpp"

namespace evalcore::cli {
namespace {

/// Items beyond this many are counted, not listed; --json has them all.
constexpr std::size_t items_shown = 100;

unsigned long long number(std::uint64_t of) { return of; }

/// "A", "B", …; beyond the letters "27".
std::string letter(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

void print_run(std::size_t index, const run::scored_run& of) {
  std::printf("%s  %s, %s: ", letter(index).c_str(), printable(of.path).c_str(), printable(of.model).c_str());
  const auto score = of.score();
  std::printf("%.4f", score.value_or(0));
  const auto scored = of.count(run::item_state::scored);
  if (scored < of.items.size()) {
    std::printf(" (missing items wrong; %.4f if they were right; %llu errored, %llu unscored, %llu not run)",
                of.score_upper_bound().value_or(0), number(of.count(run::item_state::errored)),
                number(of.count(run::item_state::unscored)), number(of.count(run::item_state::not_run)));
  }
  std::printf(", wall %.2f s", of.wall_s);
  if (of.completion_tokens) std::printf(", %llu tokens out", number(*of.completion_tokens));
  if (of.spent) std::printf(", %s", run::usd_text(*of.spent).c_str());
  std::printf("\n");
}

void print_figures(const run::paired_figures& of) {
  if (of.pairs == 0) {
    std::printf("no item was scored by both\n");
    return;
  }
  std::printf("%+.4f", of.difference());
  if (of.bounds) {
    std::printf(" (95 %% interval %+.4f to %+.4f, %s)", of.bounds->low, of.bounds->high,
                of.binary ? "Tango's" : "Student's t");
  }
  std::printf(" over %llu items that both scored: %llu better, %llu worse", number(of.pairs),
              number(of.better), number(of.worse));
  if (of.p) std::printf("; McNemar's exact p %.4f", *of.p);
  std::printf("\n");
}

std::string side(const run::item_score& of) {
  if (of.state == run::item_state::scored) {
    auto text = json::to_text(of.value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  }
  std::string text(name(of.state));
  std::ranges::replace(text, '_', ' ');
  return of.why.empty() ? text : text + " (" + of.why + ")";
}

void print_items(const run::scored_runs& of, const run::comparison& between,
                 const std::vector<std::size_t>& which, const char* what) {
  const auto shown = std::min(which.size(), items_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto index = which[i];
    std::printf("  %s: %s  %s -> %s\n", what, printable(of.ids[index]).c_str(),
                printable(side(of.runs[between.first].items[index])).c_str(),
                printable(side(of.runs[between.second].items[index])).c_str());
  }
  if (shown < which.size()) std::printf("  … and %zu more (--json lists them)\n", which.size() - shown);
}

void print_comparison(const run::scored_runs& of, const run::comparison& between) {
  std::printf("%s against %s: ", letter(between.second).c_str(), letter(between.first).c_str());
  print_figures(between.paired);
  if (!between.missing.empty()) {
    std::printf("  with the missing items: between %+.4f and %+.4f over all %zu\n",
                between.difference_bounds.low, between.difference_bounds.high, of.ids.size());
  }
  for (const auto& one : between.categories) {
    std::printf("  %s: ", one.name.empty() ? "(no category)" : printable(one.name).c_str());
    print_figures(one.paired);
  }
  print_items(of, between, between.changed, "changed");
  print_items(of, between, between.missing, "missing");
}

}  // namespace

result<int> compare_command(const compare_arguments& arguments) {
  std::vector<std::string> stores;
  for (const auto& named : arguments.runs) stores.push_back(store_in(named));
  const auto runs = run::read_runs(stores, arguments.suite, arguments.answers);
  if (!runs) return runs.error();
  std::vector<run::comparison> all;
  for (std::size_t second = 1; second < runs->runs.size(); ++second)
    all.push_back(run::compare(*runs, 0, second));
  if (arguments.json) {
    std::printf("%s\n", json::to_text(run::comparison_json(*runs, all)).c_str());
    return exit_status::done;
  }
  std::printf("%s: %zu items\n", printable(runs->suite).c_str(), runs->ids.size());
  for (std::size_t i = 0; i < runs->runs.size(); ++i) print_run(i, runs->runs[i]);
  for (const auto& one : all) print_comparison(*runs, one);
  return exit_status::done;
}

}  // namespace evalcore::cli
