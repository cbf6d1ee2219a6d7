#include "backend_options.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <string>
#include <vector>

#include <evalcore/wire/dialect.hpp>

#include "checks.hpp"

namespace evalcore::cli {
namespace {

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

CLI::Option_group* add_api_option(CLI::App& command, backend_arguments& into) {
  auto* api = command.add_option_group("openai-url, embedded");
  api->add_option_function<std::string>(
         "--api",
         [&into](const std::string& which) {
           using enum backend::openai_api;
           into.api = which == "chat" ? chat : which == "responses" ? responses : completions;
         },
         "openai-url: the API to ask through, chat, or responses where the dialect allows it; openai-url and "
         "embedded: completions, where prompts stand as they are, without a chat template [chat]")
      ->check(one_of({"chat", "responses", "completions"}));
  return api;
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

}  // namespace

void add_backend_options(CLI::App& app, backend_arguments& into, bool& quiet) {
  app.add_option("-b,--backend", into.selector,
                 "Who answers; `evalcore backends` lists the choices [embedded, with --model FILE.gguf]");
  app.add_option(
      "-m,--model", into.model,
      "embedded, llama-server: path of the GGUF file; posttrainllm, omlx, mlx-server: of the model's "
      "folder; URLs: the model's id [the only one that the server lists]");
  auto* url = add_url_options(app, into);
  auto* api = add_api_option(app, into);
  auto* local = app.add_option_group("embedded, servers that evalcore starts");
  local
      ->add_option("--slots", into.slots,
                   "Requests that are computed side by side; embedded: at most 64 [4; embedded with "
                   "--concurrency auto: as many as fit in memory, up to 16, --evaluation fast: 64]")
      ->check(whole_number(1, 256));
  local->add_option("--context-per-slot", into.context_per_slot, "Tokens of context for each slot")
      ->check(whole_number(16, 10'000'000))
      ->capture_default_str();
  local->add_option("--threads", into.threads, "Compute threads")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  auto* embedded = app.add_option_group("embedded");
  embedded
      ->add_option_function<std::string>(
          "--evaluation",
          [&into](const std::string& which) {
            into.evaluation = which == "fast" ? engine::evaluation::fast : engine::evaluation::parity;
          },
          "parity: an answer depends on nothing but its request; fast: rounding errors of what runs beside "
          "it "
          "may change a token [parity]")
      ->check(one_of({"parity", "fast"}));
  embedded
      ->add_option("--cache-memory-max-gb", into.cache_memory_max_gb,
                   "Memory for kept prefixes, in GiB [8, or a quarter of the memory where that is less]")
      ->check(real_number(0.001, 1e6));
  auto* server = app.add_option_group("servers that evalcore starts");
  server->add_option("--server-program", into.program, "The program to start [the usual one, on PATH]");
  server->add_option("--port", into.port, "Its port [a free one]")->check(whole_number(1, 65'535));
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
  auto* scripted = app.add_option_group("scripted");
  scripted->add_option("--script", into.script, "JSONL file of replies, delays and faults");
  auto* time = app.add_option_group("deadlines, in seconds; 0 is none");
  time->add_option("--connect-timeout", into.connect_timeout_s, "Resolve and connect")->capture_default_str();
  time->add_option("--first-byte-timeout", into.first_byte_timeout_s, "Until the answer begins")
      ->capture_default_str();
  time->add_option("--idle-timeout", into.idle_timeout_s, "Between two pieces of the answer")
      ->capture_default_str();
  time->add_option("--attempt-timeout", into.attempt_timeout_s, "The whole request")->capture_default_str();
  for (auto* option : time->get_options()) option->check(real_number(0, 1e7));
  app.final_callback([&into, url, api, local, embedded, server, scripted] {
    if (into.selector.empty() && into.base_urls.empty() && into.model.ends_with(".gguf"))
      into.selector = "embedded";
    const bool at_url = into.selector.empty() || into.selector.ends_with("-url");
    const bool script = into.selector == "scripted";
    const bool in_process = into.selector == "embedded";
    if (!at_url) refuse_foreign(*url, into.selector);
    if (!at_url && !in_process) refuse_foreign(*api, into.selector);
    if (at_url || script) refuse_foreign(*local, into.selector);
    if (!in_process) refuse_foreign(*embedded, into.selector);
    if (at_url || script || in_process) refuse_foreign(*server, into.selector);
    if (!script) refuse_foreign(*scripted, into.selector);
  });
  app.add_flag("-q,--quiet", quiet, "No progress on standard error");
}

}  // namespace evalcore::cli
