#include "comparison_options.hpp"

#include <sstream>
#include <string>

#include "checks.hpp"

namespace evalcore::cli {
namespace {

constexpr std::int64_t most_items = 1'000'000'000;

void add_suite(CLI::App& command, std::string& suite, std::string& answers) {
  command.add_option("--suite", suite, "The suite [where the runs found it]");
  command.add_option("--answers", answers, "BFCL: the file of possible answers");
}

/// What a help text ends with.
std::string usual(double value) {
  std::ostringstream out;
  out << " [" << value << "]";
  return out.str();
}

void add_test(CLI::App& command, run::gate_options& into) {
  command
      .add_option("--margin", into.margin,
                  "How much of the score (0 to 1) may be lost: a loss of that or more is what must not pass" +
                      usual(into.margin))
      ->check(real_number(1e-6, 0.999));
  command.add_option("--alpha", into.alpha, "How often the one-sided test may be wrong" + usual(into.alpha))
      ->check(real_number(1e-9, 0.4999));
  command.add_option("--power", into.power, "What the figures on items needed are for" + usual(into.power))
      ->check(real_number(0.01, 0.9999));
}

void add_compat(CLI::App& command, compat_arguments& into) {
  auto* wanted = command.add_flag(
      "--compat", into.wanted, "Gate files of rows by a threshold in percentage points, as eval-gate does");
  const auto only = [&](CLI::Option* one) { return one->needs(wanted)->group("With --compat"); };
  only(command.add_option("--spec", into.spec,
                          "The gate's suites [eval-gate.json, or `eval` of posttrainllm.project.json]"));
  only(command.add_option("--candidate", into.candidate,
                          "Rows of the candidate [what the suites' commands give]"));
  only(command.add_option("--baseline", into.baseline, "Rows of the baseline [the spec's]"));
  only(command.add_option("--threshold", into.threshold,
                          "Percentage points that a metric may lose [the spec's, 2]"))
      ->check(real_number(0, 1e9));
  only(
      command.add_option("--budget", into.budget, "A file that result and commands are given as the budget"));
  only(command.add_option("--passes", into.passes, "How often the suites' commands are run [1]"))
      ->check(whole_number(1, 1000));
  only(command.add_flag("--update-baseline", into.update_baseline,
                        "Put the candidate's rows in the place of the baseline's, and gate nothing"));
}

}  // namespace

CLI::App* add_compare_command(CLI::App& app, compare_arguments& into) {
  auto* command = app.add_subcommand("compare", "Show by what runs of one suite differ, item by item");
  command
      ->add_option("RUN", into.runs,
                   "Run files (run.db), or the folders that hold them; the first is what the others are "
                   "compared with")
      ->required()
      ->expected(2, -1);
  add_suite(*command, into.suite, into.answers);
  command->add_flag("--json", into.json, "Print all of it as JSON");
  command->footer(
      "docs/statistics.md says what the figures mean. Exit status: 0 done, whatever differs; 2 usage, "
      "or runs\nof different suites. Runs that go on cannot be read until they end; archived, read-only ones "
      "can.");
  return command;
}

CLI::App* add_report_command(CLI::App& app, report_arguments& into) {
  auto* command = app.add_subcommand("report", "Write runs of one suite as a page that opens in any browser");
  command
      ->add_option(
          "RUN", into.runs,
          "Run files (run.db), or the folders that hold them; the others are compared with the first")
      ->required();
  command->add_option("-o,--out", into.out, "The page [report.html beside the first run file]");
  add_suite(*command, into.suite, into.answers);
  command->footer(
      "docs/report.md says what it shows. One file of HTML, which loads nothing. Exit status: 0 done; 2 "
      "usage, or\nruns of different suites. Runs that go on cannot be read until they end.");
  return command;
}

CLI::App* add_gate_command(CLI::App& app, gate_arguments& into) {
  auto* command = app.add_subcommand("gate", "Pass a candidate that is shown to be no worse than a baseline");
  command->add_option("RUN", into.runs,
                      "Candidate and baseline as run files or their folders, for each suite in turn");
  add_suite(*command, into.suite, into.answers);
  add_test(*command, into.test);
  command->add_option("--out", into.out, "The result as JSON [gate-result.json]");
  command->add_flag("--json", into.json, "Print it, too");
  add_compat(*command, into.compat);
  for (const char* other : {"RUN", "--suite", "--answers", "--margin", "--alpha", "--power"})
    command->get_option(other)->excludes("--compat");
  command->footer(
      "docs/gate.md says how it decides. Exit status: 0 pass, 1 fail, 2 usage or what cannot be read, 5\n"
      "inconclusive (too few items). With --compat 0, 1 and 2, and the status of a suite's command that "
      "fails.");
  return command;
}

CLI::App* add_power_command(CLI::App& app, power_arguments& into) {
  auto* command = app.add_subcommand("power", "Say how many items a gate needs, or what so many can show");
  add_test(*command, into.asked.test);
  command->add_option("--difference", into.asked.difference, "True difference, candidate less baseline [0]")
      ->check(real_number(-0.999, 0.999));
  auto* differing = command
                        ->add_option("--differing", into.asked.differing,
                                     "Share of the items that only one of the two gets right [0.1]")
                        ->check(real_number(1e-6, 1));
  command->add_option("--spread", into.asked.spread, "Or the standard deviation of the items' differences")
      ->check(real_number(1e-6, 1))
      ->excludes(differing);
  command->add_option("--items", into.asked.items, "What so many items can show")
      ->check(whole_number(2, most_items));
  command
      ->add_option("--looks", into.asked.looks,
                   "Bounds for so many looks at equal parts of the items, to stop early")
      ->check(whole_number(1, 50));
  command->add_flag("--json", into.json, "Print it as JSON");
  command->footer("docs/statistics.md has the formulas. Exit status: 0 done, 2 usage.");
  return command;
}

}  // namespace evalcore::cli
