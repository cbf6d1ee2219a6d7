#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/files.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/run/gate.hpp>
#include <evalcore/run/scored_runs.hpp>

#include "commands.hpp"
#include "compat_gate.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "run_store.hpp"

namespace evalcore::cli {
namespace {

void print_test(const stats::noninferiority& of) {
  std::printf("%+.4f, between %+.4f and %+.4f", of.difference, of.bounds.low, of.bounds.high);
}

void print_suite(const run::suite_gate& of, const run::gate_options& how) {
  const auto& candidate = of.runs.runs[1];
  const auto missing = of.between.missing.size();
  std::printf("%s: %s against %s: %s\n", printable(candidate.task).c_str(), printable(candidate.path).c_str(),
              printable(of.runs.runs[0].path).c_str(), std::string(name(of.shown)).c_str());
  const auto& paired = of.between.paired;
  if (of.paired && paired.pairs > 0) {
    std::printf("  %llu items that both scored: ", static_cast<unsigned long long>(paired.pairs));
    print_test(*of.paired);
    std::printf(" (%llu better, %llu worse)\n", static_cast<unsigned long long>(paired.better),
                static_cast<unsigned long long>(paired.worse));
  }
  if (missing > 0 && of.worst) {
    std::printf("  with %zu missing items as bad for the candidate as can be, which decides: ", missing);
    print_test(*of.worst);
    std::printf("\n");
  }
  if (of.power && of.detectable_effect) {
    std::printf(
        "  power for the margin %g if there is no difference: %.4f; with %g these items show a margin of "
        "%.4f",
        how.margin, *of.power, how.power, *of.detectable_effect);
    if (of.items_needed) {
      std::printf("; %g needs %llu items", how.margin, static_cast<unsigned long long>(*of.items_needed));
    }
    std::printf("\n");
  }
}

void print_report(const run::gate_report& of) {
  for (const auto& one : of.suites) print_suite(one, of.how);
  const char* meaning = of.verdict == run::gate_verdict::pass
                            ? "every suite is non-inferior (intersection-union)"
                        : of.verdict == run::gate_verdict::fail ? "a suite is inferior (Holm)"
                                                                : "neither is shown; more items may show it";
  std::printf("%s: %s, margin %g, alpha %g\n", std::string(name(of.verdict)).c_str(), meaning, of.how.margin,
              of.how.alpha);
}

int status_of(run::gate_verdict verdict) {
  switch (verdict) {
    case run::gate_verdict::pass:
      return exit_status::done;
    case run::gate_verdict::fail:
      return exit_status::gate_failed;
    case run::gate_verdict::inconclusive:
      break;
  }
  return exit_status::gate_inconclusive;
}

result<std::vector<run::scored_runs>> read_suites(const gate_arguments& arguments) {
  const auto& runs = arguments.runs;
  if (runs.empty() || runs.size() % 2 != 0) {
    return fail(errc::invalid_argument, stage::config,
                "name a candidate and its baseline, for each suite: evalcore gate CANDIDATE BASELINE");
  }
  if (runs.size() > 2 && !(arguments.suite + arguments.answers).empty()) {
    return fail(errc::invalid_argument, stage::config,
                "--suite and --answers are of one suite; gate one at a time");
  }
  std::vector<run::scored_runs> out;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    auto read =
        run::read_runs({store_in(runs[i + 1]), store_in(runs[i])}, arguments.suite, arguments.answers);
    if (!read) return std::move(read).error();
    out.push_back(*std::move(read));
  }
  return out;
}

}  // namespace

result<int> gate_command(const gate_arguments& arguments, const std::stop_token& stop) {
  if (arguments.compat.wanted) return compat_gate_command(arguments, stop);
  auto suites = read_suites(arguments);
  if (!suites) return std::move(suites).error();
  const auto report = run::gate(*std::move(suites), arguments.test);
  const auto text = json::to_text(run::to_json(report)) + "\n";
  if (auto written = write_file_atomically(arguments.out, text); !written) return std::move(written).error();
  if (arguments.json) {
    std::fputs(text.c_str(), stdout);
  } else {
    print_report(report);
  }
  return status_of(report.verdict);
}

}  // namespace evalcore::cli
