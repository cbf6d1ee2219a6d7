#include "arguments.hpp"

#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/version.hpp>

#include "argument_secrets.hpp"
#include "backend_options.hpp"
#include "checks.hpp"
#include "comparison_options.hpp"
#include "open_backend.hpp"
#include "pool_options.hpp"
#include "printable.hpp"

namespace evalcore::cli {
namespace {

/// "\n" and "\t" as a shell user types them; anything else after a backslash stays as it is.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    const char next = escape ? text[i + 1] : '\0';
    if (next == 'n' || next == 't' || next == '\\') {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void add_suite_options(CLI::App& command, suite_arguments& into) {
  command.add_option("SUITE", into.suite, "A suite: JSONL (plain or gzipped) or a BFCL v4 file")->required();
  command.add_option("--answers", into.answers,
                     "BFCL: the file of possible answers [possible_answer/ beside the suite]");
  command.add_option("--limit", into.limit, "Only the first N items of the suite")
      ->check(whole_number(1, 1'000'000'000'000));
  add_concurrency(command, into.pool, into.concurrency_named);
  command
      .add_option_function<std::string>(
          "--order", [&into](const std::string& order) { into.suite_order = order == "suite"; },
          "prefix: dealt by chance, what shares a prefix together; suite: as the file has it [prefix]")
      ->check(one_of({"prefix", "suite"}));
  command
      .add_option_function<std::string>(
          "--tools",
          [&into](const std::string& mode) {
            into.request.tools = mode == "native" ? run::tools_mode::native
                                 : mode == "text" ? run::tools_mode::text
                                                  : run::tools_mode::automatic;
          },
          "How declared tools reach the model: native (in `tools`), text (in the system turn), auto (native "
          "unless "
          "the backend is seen to drop them) [auto]")
      ->check(one_of({"auto", "native", "text"}));
  auto& defaults = into.request.defaults;
  command.add_option("--temperature", defaults.temperature, "For items that do not say; 0 is greedy")
      ->check(real_number(0, 100));
  command.add_option("--top-p", defaults.top_p, "For items that do not say")->check(real_number(0, 1));
  command.add_option("--max-tokens", defaults.max_tokens, "For items that do not say")
      ->check(whole_number(1, 4'294'967'295));
  command.add_option("--seed", defaults.seed, "For items that do not say")
      ->check(whole_number(-9'007'199'254'740'991, 9'007'199'254'740'991));
  command
      .add_option_function<std::vector<std::string>>(
          "--stop",
          [&defaults](const std::vector<std::string>& stops) {
            for (const auto& stop : stops) {
              if (stop.empty()) throw CLI::ValidationError("--stop", "an empty text would end every answer");
              defaults.stop.push_back(unescape(stop));
            }
          },
          "Stop string for items that name none (\\n and \\t are understood; repeatable)")
      ->allow_extra_args(false);
  command.add_flag_callback(
      "--no-prompt-cache", [&into] { into.request.use_prompt_cache = false; },
      "Ask the backend not to reuse prompts (where it can be asked)");
  command.add_option("--price", into.price, "Count what it costs, by the prices in this file (docs/cost.md)")
      ->type_name("FILE");
  command.add_flag("--json", into.json, "Print the result as JSON on standard output");
}

/// I/N; both from 1 on, and I no more than N.
void add_shard(CLI::App& command, std::optional<run::shard>& into) {
  command
      .add_option_function<std::string>(
          "--shard",
          [&into](const std::string& text) {
            constexpr std::uint32_t most = 100'000;
            const auto cut = text.find('/');
            run::shard read;
            const bool reads = cut != std::string::npos && reads_as(text.substr(0, cut), read.index) &&
                               reads_as(text.substr(cut + 1), read.of);
            if (!reads || read.index < 1 || read.index > read.of || read.of > most) {
              throw CLI::ValidationError("--shard", "wants I/N, such as 1/4: the first of four parts");
            }
            into = read;
          },
          "Only the I-th of N parts of the suite, dealt so that what shares a prefix stays together; "
          "`evalcore "
          "merge` puts the run files together")
      ->type_name("I/N");
}

CLI::App* add_score_command(CLI::App& app, score_arguments& into) {
  auto* command = app.add_subcommand("score", "Score replies that are there already, without a backend");
  command->add_option("SUITE", into.suite, "A suite: JSONL (plain or gzipped) or a BFCL v4 file")->required();
  command->add_option("--answers", into.answers,
                      "BFCL: the file of possible answers [possible_answer/ beside the suite]");
  command
      ->add_option("--replies", into.replies,
                   "The replies: JSONL with id and text or calls, or a BFCL result file (docs/suite.md)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--scorer", into.scorer,
                   "In the place of the suite's scorers: a name, or JSON with its options")
      ->type_name("SCORER");
  command
      ->add_option("--verdicts", into.verdicts,
                   "Write each verdict with its steps there, one JSON object a line")
      ->type_name("FILE");
  command->add_option("--limit", into.limit, "Only the first N items of the suite")
      ->check(whole_number(1, 1'000'000'000'000));
  command->add_flag("--json", into.json, "Print the summary as JSON");
  command->footer("Exit status: 0 done, 2 usage, 4 items have no reply.");
  return command;
}

CLI::App* add_merge_command(CLI::App& app, merge_arguments& into) {
  auto* command = app.add_subcommand("merge", "Put the run files of a suite's shards together");
  command->add_option("OUT", into.out, "Folder for run.db, rows.jsonl and summary.json")->required();
  command->add_option("FILE", into.files, "Run files (run.db), or the folders that hold them")->required();
  command->add_option("--suite", into.suite, "The suite [where the runs found it]");
  command->add_option("--answers", into.answers, "BFCL: the file of possible answers");
  command->add_flag("--json", into.json, "Print the summary as JSON");
  command->footer(
      "Exit status: 0 done, 2 usage or files that are not parts of one run, 4 items errored or are missing.");
  return command;
}

CLI::App* add_export_command(CLI::App& app, export_arguments& into) {
  auto* command = app.add_subcommand("export", "Write runs in the format of another tool");
  command->add_option("RUN", into.what.stores, "Run files (run.db), or the folders that hold them")
      ->required();
  command
      ->add_option_function<std::string>(
          "--format",
          [&into](const std::string& named) {
            using enum run::export_format;
            for (const auto& [name, format] : {std::pair("rows", rows),
                                               {"lm-eval", lm_eval},
                                               {"bfcl", bfcl},
                                               {"junit", junit},
                                               {"markdown", markdown},
                                               {"csv", csv}}) {
              if (named == name) into.format = format;
            }
          },
          "rows (rows.jsonl), lm-eval (as its --log_samples), bfcl (result files for `bfcl evaluate`), junit "
          "(XML), markdown (a summary for people), csv (a line for each item)")
      ->check(one_of({"rows", "lm-eval", "bfcl", "junit", "markdown", "csv"}))
      ->required();
  command->add_option("-o,--out", into.out,
                      "The file [standard output]; of lm-eval and bfcl the folder, which they need");
  command->add_flag("--redact", into.what.redact,
                    "Without prompts, replies, targets and tools; ids, scores, usage and timing stay");
  command->add_option("--model-name", into.what.model_name, "Name of the model there [the runs' own]");
  command->add_option("--suite", into.what.suite, "The suite [where the runs found it]");
  command->add_option("--answers", into.what.answers, "BFCL: the file of possible answers");
  command->footer(
      "docs/outputs.md has the members of each. Exit status: 0 done, 2 usage, or what cannot be read or\n"
      "written.");
  return command;
}

CLI::App* add_show_command(CLI::App& app, show_arguments& into) {
  auto* command = app.add_subcommand("show", "Show all that a run knows of one item");
  command->add_option("RUN", into.run, "A run file (run.db), or the folder that holds it")->required();
  command->add_option("ID", into.id, "Of an item of its suite")->required();
  auto* curl = command->add_flag(
      "--curl", into.curl, "Print a curl command that sends its request; keys are read from the environment");
  command
      ->add_flag("--resend", into.resend,
                 "Send its request again, and show prompt, reply and score beside what the run has; the run "
                 "stays as it is")
      ->excludes(curl);
  command->add_option("--suite", into.suite, "The suite [where the run found it]");
  command->add_option("--answers", into.answers, "BFCL: the file of possible answers");
  command->add_flag("--json", into.json, "Print all of it as JSON")->excludes(curl);
  add_backend_options(*command, into.backend, into.quiet);
  command->get_option("--backend")->description("For --curl and --resend: who is asked [who the run asked]");
  command->footer(
      "docs/outputs.md says what stands there. Exit status: 0 done, 2 usage, or no such item; with --resend "
      "3 "
      "where\nthere is no answer, and 130 interrupted.");
  return command;
}

CLI::App* add_probe_command(CLI::App& app, probe_arguments& into) {
  auto* command = app.add_subcommand("probe", "Find out what a backend answers, honours and promises");
  command->add_option_function<std::string>(
      "TARGET",
      [&into](const std::string& target) {
        if (looks_like_address(target)) {
          into.backend.base_urls = {target};
        } else {
          into.backend.selector = target;
        }
      },
      "A URL, of which is found out what it speaks, or a backend's name");
  add_backend_options(*command, into.backend, into.quiet);
  command
      ->add_option_function<double>(
          "--timeout",
          [&into](double seconds) { into.each = std::chrono::milliseconds(std::llround(seconds * 1000)); },
          "Seconds for one request [60]")
      ->check(real_number(0.001, 1e6));
  command->add_flag("--json", into.json, "Print the report as JSON");
  command->footer(
      "Fewer than thirty short requests; a dialect whose requests are paid for gets a handful. Exit status: "
      "0\n"
      "whatever was found, 2 usage, 3 backend unavailable or it stopped answering.");
  return command;
}

/// What follows an option that does not exist may be meant as a secret, so it is not repeated.
std::string unexpected(const CLI::App& app) {
  std::string names;
  std::string others;
  for (const auto& word : app.remaining(true)) {
    auto& into = word.starts_with('-') ? names : others;
    into += (into.empty() ? "" : ", ") + printable(word.substr(0, word.find('=')));
  }
  const auto chosen = app.get_subcommands();
  const std::string whose = chosen.empty() ? "evalcore" : "evalcore " + chosen.front()->get_name();
  return "evalcore: there is no option or argument " + (names.empty() ? others : names) + "; `" + whose +
         " --help` lists what there is\n";
}

}  // namespace

command parse_arguments(int argc, char** argv) {
  CLI::App app("evalcore runs LLM evaluations as fast as a backend can go, without changing a score.",
               "evalcore");
  app.set_version_flag("--version", "evalcore " EVALCORE_VERSION);
  app.require_subcommand(1);
  app.failure_message([&](const CLI::App* failed, const CLI::Error& error) {
    const auto chosen = failed->get_subcommands();
    if (chosen.empty() && argc > 1 && argv[1][0] != '-') {
      std::string known;
      for (const auto* one : failed->get_subcommands({}))
        known += (known.empty() ? "" : ", ") + one->get_name();
      return "evalcore: there is no command \"" + printable(argv[1]) + "\"; there are: " + known + "\n";
    }
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(*failed);
    const std::string whose = chosen.empty() ? "evalcore" : "evalcore " + chosen.front()->get_name();
    return "evalcore: " + printable(error.what()) + "; `" + whose + " --help` lists what there is\n";
  });

  run_arguments run;
  auto* run_command =
      app.add_subcommand("run", "Run a suite against a backend, or go on with an interrupted run");
  add_suite_options(*run_command, run.suite);
  add_backend_options(*run_command, run.backend, run.suite.quiet);
  run_command->add_option("-o,--out", run.out,
                          "Folder for run.db, rows.jsonl and summary.json [out/<suite>]");
  run_command->add_option("--store", run.store,
                          "The run store [run.db in the --out folder]; what it has is reused");
  add_shard(*run_command, run.part);
  run_command
      ->add_option(
          "--cache", run.cache,
          "Answer a request that the same backend was sent before with what it replied, also where the suite "
          "has changed: from the run store, and from the store FILE if one is named")
      ->expected(0, 1)
      ->type_name("[FILE]");
  run_command->add_flag("--cache-sampled", run.cache_sampled,
                        "--cache, and also for requests with neither temperature 0 nor a seed");
  run_command
      ->add_option("--scorer", run.scorer,
                   "In the place of the suite's scorers: a name, or JSON with its options (docs/scoring.md)")
      ->type_name("SCORER");
  run_command->add_option("--task", run.task, "Name of the task in rows [bfcl, or the suite's name]");
  run_command->add_option("--model-name", run.model_name, "Name of the model in rows [the backend's]");
  run_command->add_option("--model-step", run.model_step, "Training step of the model, for rows");
  run_command->add_flag("--baseline", run.baseline, "Mark the rows as a baseline");
  run_command
      ->add_option(
          "--max-cost", run.max_cost_usd,
          "Send nothing more once it could make what was spent on this suite exceed so many USD; the "
          "store knows what earlier runs spent")
      ->check(real_number(1e-9, 1e6))
      ->needs("--price")
      ->type_name("USD");
  run_command
      ->add_option(
          "--noise-floor", run.noise_floor,
          "Ask K items twice, among the others, and say how many answers and scores differ: what two "
          "runs of this backend may differ by (docs/noise.md)")
      ->check(whole_number(1, 1'000'000'000'000))
      ->type_name("K");
  run_command->add_flag(
      "--probe", run.probe,
      "Ask the backend first what it can do, as `evalcore probe` does, and keep it with the run");
  add_pool_options(*run_command, run.suite.pool);
  run_command->footer(
      "Exit status: 0 done, 2 usage, 3 backend unavailable, 4 items errored or left over, 130 interrupted "
      "(the\n"
      "same command again goes on where it was).");

  plan_arguments plan;
  auto* plan_command =
      app.add_subcommand("plan", "Show which items share a prefix and what that should save");
  add_suite_options(*plan_command, plan.suite);
  add_backend_options(*plan_command, plan.backend, plan.suite.quiet);
  plan_command
      ->add_option("--expected-output", plan.expected_output,
                   "Tokens that an answer comes to, for --price [the bound: max_tokens]")
      ->check(whole_number(0, 4'294'967'295))
      ->needs("--price")
      ->type_name("TOKENS");
  plan_command->footer("Without --backend the prompts are counted in bytes, as an estimate.");

  score_arguments score;
  auto* score_command = add_score_command(app, score);

  merge_arguments merge;
  auto* merge_command = add_merge_command(app, merge);

  compare_arguments compare;
  auto* compare_command = add_compare_command(app, compare);

  report_arguments report;
  auto* report_command = add_report_command(app, report);

  gate_arguments gate;
  auto* gate_command = add_gate_command(app, gate);

  export_arguments exported;
  auto* export_command = add_export_command(app, exported);

  show_arguments shown;
  auto* show_command = add_show_command(app, shown);

  power_arguments power;
  auto* power_command = add_power_command(app, power);

  probe_arguments probe;
  auto* probe_command = add_probe_command(app, probe);

  backends_arguments backends;
  auto* backends_command = app.add_subcommand("backends", "List the backends and what each needs");
  backends_command->add_flag("--json", backends.json, "Print the list as JSON");

  const auto given = arguments_as_json(argc, argv);
  try {
    app.parse(argc, argv);
    hide_secrets(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return parsed_exit{code == 0 ? 0 : 2};
  }
  if (run_command->parsed()) {
    run.as_given = given;
    return run;
  }
  if (plan_command->parsed()) return plan;
  if (score_command->parsed()) return score;
  if (merge_command->parsed()) {
    merge.as_given = given;
    return merge;
  }
  if (compare_command->parsed()) return compare;
  if (report_command->parsed()) return report;
  if (gate_command->parsed()) return gate;
  if (export_command->parsed()) return exported;
  if (show_command->parsed()) return shown;
  if (power_command->parsed()) return power;
  if (probe_command->parsed()) return probe;
  return backends;
}

}  // namespace evalcore::cli
