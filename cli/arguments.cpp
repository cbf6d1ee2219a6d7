#include "arguments.hpp"

#include <cmath>
#include <iostream>
#include <map>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/version.hpp>
#include <evalcore/wire/dialect.hpp>

#include "checks.hpp"
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
          "prefix: what shares a prefix runs together; suite: as the file has it [prefix]")
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
  command.add_flag("--json", into.json, "Print the result as JSON on standard output");
}

/// NAME=VALUE; what is wrong with one is said without its value.
backend::named_value named_value_of(const std::string& option, const std::string& text) {
  const auto cut = text.find('=');
  if (cut == 0 || cut == std::string::npos) {
    throw CLI::ValidationError(option, "wants NAME=VALUE, or NAME=env:VARIABLE");
  }
  return {text.substr(0, cut), text.substr(cut + 1)};
}

void add_named_values(CLI::Option_group& group, const std::string& option,
                      std::vector<backend::named_value>& into, const std::string& what) {
  group
      .add_option_function<std::vector<std::string>>(
          option,
          [option, &into](const std::vector<std::string>& texts) {
            for (const auto& text : texts) into.push_back(named_value_of(option, text));
          },
          what)
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
}

std::string dialect_names() {
  std::string names;
  for (const auto& one : wire::dialects()) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

void add_key_options(CLI::Option_group& url, backend_arguments& into) {
  using placement = backend::credentials::placement;
  auto* environment =
      url.add_option("--api-key-env", into.opens.key_env, "Environment variable that holds the API key");
  auto* file = url.add_option("--api-key-file", into.opens.key_file,
                              "File that holds it and that only its owner can read");
  auto* program = url.add_option("--api-key-command", into.opens.key_command,
                                 "Program, with arguments, that prints it; run without a shell, again every "
                                 "minute");
  environment->excludes(file)->excludes(program);
  file->excludes(program);
  url.add_option_function<std::string>(
         "--api-key-header",
         [&into](const std::string& where) {
           into.opens.where = where == "bearer" ? placement::bearer : placement::x_api_key;
         },
         "How it travels: bearer or x-api-key [bearer; anthropic-url: x-api-key]")
      ->check(CLI::IsMember({"bearer", "x-api-key"}));
  add_named_values(
      url, "--header", into.opens.headers,
      "Sent with every request; the value env:VARIABLE is read from the environment (repeatable)");
  add_named_values(url, "--query", into.opens.query, "The same in the URL's query (repeatable)");
}

CLI::Option_group* add_url_options(CLI::App& command, backend_arguments& into) {
  auto* url = command.add_option_group("openai-url, anthropic-url");
  url->add_option(
         "--base-url", into.base_urls,
         "http://HOST:PORT or https://HOST, with or without /v1; repeat it for several servers of the "
         "same model")
      ->allow_extra_args(false);
  url->add_option("--dialect", into.dialect,
                  "The server's ways: " + dialect_names() + " [generic; anthropic-url: anthropic]");
  url->add_option_function<std::string>(
         "--api",
         [&into](const std::string& which) {
           into.api = which == "chat" ? backend::openai_api::chat : backend::openai_api::responses;
         },
         "openai-url: the API to ask through, chat or responses, where the dialect allows it [chat]")
      ->check(one_of({"chat", "responses"}));
  add_key_options(*url, into);
  url->add_option_function<std::string>(
         "--anthropic-version",
         [&into](const std::string& text) { into.version = *wire::anthropic_version_from(text); },
         "2023-06-01 or 2026-10-21 (which knows no temperature) [2023-06-01]")
      ->check([](const std::string& text) {
        return wire::anthropic_version_from(text) ? std::string() : "there is no version " + text;
      });
  url->add_option("--ca-file", into.tls.ca_file, "PEM file of the only authorities to trust [the system's]");
  url->add_option("--tls-server-name", into.tls.server_name, "The name in the certificate [the URL's host]");
  url->add_flag_callback(
      "--insecure", [&into] { into.tls.verify = false; },
      "Do not check who answers: anybody in between can read the key and change the answers");
  url->add_flag_callback(
      "--no-stream", [&into] { into.stream = false; }, "Ask for whole answers (no TTFT then)");
  return url;
}

/// An option of another kind of backend would have no effect, which nobody means.
void refuse_foreign(const CLI::Option_group& group, const std::string& selector) {
  for (const auto* option : group.get_options()) {
    if (option->count() > 0) {
      throw CLI::ValidationError(option->get_name(), "is for " + group.get_group() + ", and the backend is " +
                                                         (selector.empty() ? "a URL" : selector));
    }
  }
}

void add_backend_options(CLI::App& command, backend_arguments& into, bool& quiet) {
  command.add_option("-b,--backend", into.selector, "Who answers; `evalcore backends` lists the choices");
  command.add_option("-m,--model", into.model,
                     "llama-server: path of the GGUF file; posttrainllm, omlx, mlx-server: of the model's "
                     "folder; URLs: the model's id [the only one that the server lists]");
  auto* url = add_url_options(command, into);
  auto* server = command.add_option_group("servers that evalcore starts");
  server->add_option("--server-program", into.program, "The program to start [the usual one, on PATH]");
  server->add_option("--port", into.port, "Its port [a free one]")->check(whole_number(1, 65'535));
  server->add_option("--slots", into.slots, "Requests that it computes side by side")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  server->add_option("--context-per-slot", into.context_per_slot, "Tokens of context for each slot")
      ->check(whole_number(16, 10'000'000))
      ->capture_default_str();
  server->add_option("--threads", into.threads, "Compute threads")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  server->add_flag_callback(
      "--no-share-prefix", [&into] { into.share_prefix = false; },
      "Do not copy a computed prefix between slots");
  server->add_option("--backend-arg", into.server_arguments, "Passed on to the program as it is (repeatable)")
      ->allow_extra_args(false);
  server
      ->add_option_function<unsigned>(
          "--ready-timeout",
          [&into](unsigned seconds) { into.ready_timeout = std::chrono::seconds(seconds); },
          "Seconds to wait until it is ready [120]")
      ->check(whole_number(1, 86'400));
  auto* scripted = command.add_option_group("scripted");
  scripted->add_option("--script", into.script, "JSONL file of replies, delays and faults");
  auto* time = command.add_option_group("deadlines, in seconds; 0 is none");
  time->add_option("--connect-timeout", into.connect_timeout_s, "Resolve and connect")->capture_default_str();
  time->add_option("--first-byte-timeout", into.first_byte_timeout_s, "Until the answer begins")
      ->capture_default_str();
  time->add_option("--idle-timeout", into.idle_timeout_s, "Between two pieces of the answer")
      ->capture_default_str();
  time->add_option("--attempt-timeout", into.attempt_timeout_s, "The whole request")->capture_default_str();
  for (auto* option : time->get_options()) option->check(real_number(0, 1e7));
  command.final_callback([&into, url, server, scripted] {
    const bool at_url = into.selector.empty() || into.selector.ends_with("-url");
    const bool script = into.selector == "scripted";
    if (!at_url) refuse_foreign(*url, into.selector);
    if (at_url || script) refuse_foreign(*server, into.selector);
    if (!script) refuse_foreign(*scripted, into.selector);
  });
  command.add_flag("-q,--quiet", quiet, "No progress on standard error");
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
      "About twenty short requests; a dialect whose requests are paid for gets a handful. Exit status: 0\n"
      "whatever was found, 2 usage, 3 backend unavailable or it stopped answering.");
  return command;
}

/// Where the secret part of argument `at` begins; npos: it has none.
std::size_t secret_begin(int at, const char* const* argv) {
  const std::string_view word = argv[at];
  const std::string_view before = at > 1 ? argv[at - 1] : "";
  for (const std::string_view option : {"--header", "--query", "--api-key-command", "--backend-arg"}) {
    std::size_t value = std::string_view::npos;
    if (before == option) value = 0;
    if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) value = option.size() + 1;
    if (value == std::string_view::npos) continue;
    if (option == "--backend-arg") return value;  // Perhaps the key that the server is to ask for.
    // What a command is called and which variable is read is no secret.
    const bool is_command = option == "--api-key-command";
    const auto cut = word.find(is_command ? ' ' : '=', value);
    if (cut == std::string_view::npos) return cut;
    return !is_command && word.substr(cut + 1).starts_with("env:") ? std::string_view::npos : cut + 1;
  }
  return std::string_view::npos;
}

std::string as_json(int argc, const char* const* argv) {
  json::array words;
  for (int i = 1; i < argc; ++i) {
    const auto begin = secret_begin(i, argv);
    const std::string word = argv[i];
    words.emplace_back(begin == std::string::npos ? word : word.substr(0, begin) + "***");
  }
  return json::to_text(json::object{{"arguments", std::move(words)}});
}

void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto begin = secret_begin(i, argv);
    if (begin == std::string_view::npos) continue;
    for (char* at = argv[i] + begin; *at != '\0'; ++at) *at = '*';
  }
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
  run_command->add_option("--task", run.task, "Name of the task in rows [bfcl, or the suite's name]");
  run_command->add_option("--model-name", run.model_name, "Name of the model in rows [the backend's]");
  run_command->add_option("--model-step", run.model_step, "Training step of the model, for rows");
  run_command->add_flag("--baseline", run.baseline, "Mark the rows as a baseline");
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
  plan_command->footer("Without --backend the prompts are counted in bytes, as an estimate.");

  probe_arguments probe;
  auto* probe_command = add_probe_command(app, probe);

  backends_arguments backends;
  auto* backends_command = app.add_subcommand("backends", "List the backends and what each needs");
  backends_command->add_flag("--json", backends.json, "Print the list as JSON");

  const auto given = as_json(argc, argv);
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
  if (probe_command->parsed()) return probe;
  return backends;
}

}  // namespace evalcore::cli
