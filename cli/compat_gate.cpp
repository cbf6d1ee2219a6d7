#include "compat_gate.hpp"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <evalcore/base/files.hpp>
#include <evalcore/run/compat_gate.hpp>

#include "exit_status.hpp"
#include "printable.hpp"
#include "suite_commands.hpp"

namespace evalcore::cli {
namespace {

error refuse(std::string why) { return fail(errc::invalid_argument, stage::config, std::move(why)); }

bool is_there(const char* path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

result<run::gate_spec> read_spec(const std::string& named) {
  const char* usual = "eval-gate.json";
  const char* project = "posttrainllm.project.json";
  const bool in_project = named.empty() && !is_there(usual) && is_there(project);
  if (named.empty() && !in_project && !is_there(usual)) {
    return refuse("there is no gate: name its file with --spec, or have " + std::string(usual) + " or " +
                  project + " with `eval` here");
  }
  const std::string path = !named.empty() ? named : in_project ? project : usual;
  const auto text = read_file(path, "spec", stage::config);
  if (!text) return text.error();
  return run::read_gate_spec(*text, path, in_project);
}

void print_metric(const run::gated_metric& of) {
  const auto& row = of.candidate;
  std::printf("%-7s %s%s%s %s: %.4f", std::string(of.verdict()).c_str(), printable(row.task).c_str(),
              row.subtask ? "/" : "", printable(row.subtask.value_or("")).c_str(),
              printable(row.metric).c_str(), row.score);
  if (of.baseline_score) {
    std::printf(", baseline %.4f, %+.2f pp of which -%g are allowed%s", *of.baseline_score, *of.delta_pp,
                of.threshold_pp, of.lower_is_better ? " (lower is better)" : "");
  } else {
    std::printf(", which the baseline does not have");
  }
  std::printf("\n");
}

/// The bytes of the candidate's rows, or the status of a command that failed.
struct candidate_bytes {
  std::string text;
  int failed = 0;
};

result<candidate_bytes> candidate_of(const compat_arguments& arguments, const run::gate_spec& spec,
                                     command_output output, const std::stop_token& stop) {
  candidate_bytes out;
  if (!arguments.candidate.empty()) {
    auto text = read_file(arguments.candidate, "candidate", stage::config);
    if (!text) return std::move(text).error();
    out.text = *std::move(text);
    return out;
  }
  std::vector<std::vector<std::string>> commands;
  for (const auto& suite : spec.suites) {
    if (suite.command.empty())
      return refuse("suite " + suite.name +
                    " has no command to run; name the candidate's rows with --candidate");
    commands.push_back(suite.command);
  }
  if (commands.empty())
    return refuse("there is no candidate: name its rows with --candidate, or a suite with a command");
  auto ran = run_suite_commands(commands, arguments.passes, arguments.budget, output, stop);
  if (!ran) return std::move(ran).error();
  out.text = std::move(ran->rows);
  out.failed = ran->status;
  return out;
}

}  // namespace

result<int> compat_gate_command(const gate_arguments& arguments, const std::stop_token& stop) {
  const auto& compat = arguments.compat;
  auto spec = read_spec(compat.spec);
  if (!spec) return std::move(spec).error();
  if (compat.threshold) spec->default_threshold = *compat.threshold;
  const auto baseline_path = compat.baseline.empty() ? spec->baseline : compat.baseline;
  std::optional<json::value> budget;
  if (!compat.budget.empty()) {
    const auto text = read_file(compat.budget, "budget", stage::config);
    if (!text) return text.error();
    auto read = run::read_budget(*text, compat.budget);
    if (!read) return std::move(read).error();
    budget = *std::move(read);
  }
  const auto output = arguments.json ? command_output::to_stderr : command_output::as_ours;
  const auto candidate = candidate_of(compat, *spec, output, stop);
  if (!candidate) return candidate.error();
  if (candidate->failed != 0) return candidate->failed;
  if (compat.update_baseline) {
    if (auto written = write_file_atomically(baseline_path, candidate->text); !written) {
      std::fprintf(stderr, "evalcore: %s\n", printable(written.error().message).c_str());
      return exit_status::gate_failed;
    }
    std::printf("%s is the baseline now\n", printable(baseline_path).c_str());
    return exit_status::done;
  }
  const auto baseline = read_file(baseline_path, "baseline", stage::config);
  if (!baseline) return baseline.error();
  auto gated = run::compat_gate(*spec, run::group_passes(run::read_gate_rows(candidate->text)),
                                run::read_gate_rows(*baseline));
  if (!gated) return std::move(gated).error();
  auto& result = *gated;
  result.passes = compat.passes;
  result.budget = std::move(budget);
  const auto text = run::to_text(result);
  if (auto written = write_file_atomically(arguments.out, text); !written) return std::move(written).error();
  if (arguments.json) {
    std::printf("%s\n", text.c_str());
  } else {
    for (const auto& one : result.metrics) print_metric(one);
    std::printf("%s: %zu metrics, %llu failed, %llu missing\n", result.failed() == 0 ? "pass" : "fail",
                result.metrics.size(), static_cast<unsigned long long>(result.failed()),
                static_cast<unsigned long long>(result.missing()));
  }
  return result.failed() == 0 ? exit_status::done : exit_status::gate_failed;
}

}  // namespace evalcore::cli
