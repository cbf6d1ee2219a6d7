#include "open_backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <evalcore/backend/embedded.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/backend/managed_server.hpp>
#include <evalcore/backend/probe.hpp>
#include <evalcore/backend/scripted.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::cli {
namespace {

constexpr std::array all_selectors{
    selector{"embedded", "a GGUF model in this process; the default", "--model FILE.gguf"},
    selector{"llama-server", "llama.cpp's server, started and stopped by evalcore",
             "--model FILE.gguf, and llama-server on PATH or --server-program PATH"},
    selector{"posttrainllm", "posttrainllm serve, started and stopped by evalcore",
             "--model PATH, and posttrainllm on PATH or --server-program PATH"},
    selector{"omlx", "oMLX, started and stopped by evalcore; your own settings stay as they are",
             "--model FOLDER, and omlx on PATH or --server-program PATH"},
    selector{"mlx-server", "mlx_lm.server, started and stopped by evalcore",
             "--model FOLDER (or a name at the hub), and mlx_lm.server on PATH or --server-program PATH"},
    selector{
        "openai-url",
        "any server that speaks OpenAI's chat or Responses API (vLLM, SGLang, Ollama, LM Studio, …)",
        "--base-url http://HOST:PORT; --model, --api-key-…, --api and --dialect as the server wants them"},
    selector{"anthropic-url", "any server that speaks Anthropic's messages API",
             "--base-url https://HOST and --model; --api-key-…, --anthropic-version and --dialect as the "
             "server wants them"},
    selector{"scripted", "replies, delays and faults from a file, for tests and dry runs",
             "--script FILE.jsonl"},
};

constexpr std::uint32_t usual_slots = 4;

using opened = std::unique_ptr<backend::backend>;

error usage(std::string message) { return fail(errc::invalid_argument, stage::config, std::move(message)); }

duration from_seconds(double seconds) { return duration(std::llround(seconds * 1e9)); }

net::deadlines deadlines_of(const backend_arguments& arguments) {
  return {from_seconds(arguments.connect_timeout_s), from_seconds(arguments.first_byte_timeout_s),
          from_seconds(arguments.idle_timeout_s), from_seconds(arguments.attempt_timeout_s)};
}

result<opened> open_url(net::loop& owner, const backend_arguments& arguments, const std::string& base_url,
                        const backend::ask_again& again, const std::stop_token& stop) {
  backend::http_options how;
  how.base_url = base_url;
  how.model = arguments.model;
  if (!arguments.dialect.empty()) {
    how.ways = wire::find_dialect(arguments.dialect);
    if (how.ways == nullptr) {
      std::string known;
      for (const auto& one : wire::dialects()) known += (known.empty() ? "" : ", ") + std::string(one.name);
      return usage("there is no dialect \"" + arguments.dialect + "\"; there are: " + known);
    }
  }
  if (arguments.api) {
    if (arguments.selector == "anthropic-url") {
      return usage("--api is an option of openai-url; anthropic-url has one API, so leave it out");
    }
    how.api = *arguments.api;
  }
  how.deadlines = deadlines_of(arguments);
  how.tls = arguments.tls;
  how.opens = arguments.opens;
  how.stream = arguments.stream;
  how.version = arguments.version;
  how.again = again;
  const bool messages = arguments.selector == "anthropic-url" ||
                        (arguments.selector.empty() && backend::speaks_messages(owner, how, stop));
  return messages ? backend::connect_anthropic_url(owner, how, stop)
                  : backend::connect_openai_url(owner, how, stop);
}

result<opened> open_server(net::loop& owner, const wire::dialect& ways, const backend_arguments& arguments,
                           const std::stop_token& stop) {
  if (arguments.model.empty()) return usage(arguments.selector + " needs --model, the path of a model");
  backend::managed_options how;
  how.ways = &ways;
  how.program = arguments.program;
  how.model = arguments.model;
  how.port = arguments.port;
  how.slots = arguments.slots.value_or(usual_slots);
  how.context_per_slot = arguments.context_per_slot;
  how.threads = arguments.threads;
  how.share_prefix = arguments.share_prefix;
  how.ready_deadline = arguments.ready_timeout;
  how.extra_args = arguments.server_arguments;
  how.deadlines = deadlines_of(arguments);
  return backend::start_managed_server(owner, how, stop);
}

/// Where the user's programs keep what they can make again (XDG Base Directory Specification); empty:
/// nowhere.
std::string verdict_folder() {
  const auto folder_in = [](const char* variable) -> std::filesystem::path {
    const char* set = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
    return set != nullptr && *set == '/' ? set : "";
  };
  auto caches = folder_in("XDG_CACHE_HOME");
  if (caches.empty()) {
    const auto home = folder_in("HOME");
    if (home.empty()) return "";
    caches = home / ".cache";
  }
  return (caches / "evalcore" / "parity").string();
}

result<opened> open_in_process(net::loop& owner, const backend_arguments& arguments,
                               const std::stop_token& stop) {
  if (arguments.model.empty()) return usage("embedded needs --model, the path of a GGUF file");
  if (arguments.api == backend::openai_api::responses) {
    return usage("--api responses is of openai-url; embedded has chat and completions");
  }
  backend::embedded_options how;
  how.completions = arguments.api == backend::openai_api::completions;
  how.model.model_path = arguments.model;
  how.model.mode = arguments.evaluation;
  how.model.context_tokens = static_cast<std::uint32_t>(arguments.context_per_slot);
  how.model.threads = arguments.threads;
  how.fit_slots = !arguments.slots && arguments.slots_to_fit;
  how.schedule.max_batch_size = arguments.slots.value_or(arguments.slots_to_fit.value_or(usual_slots));
  how.leave_prefixes_out = !arguments.keeps_prefixes;
  how.verdict_folder = verdict_folder();
  if (arguments.cache_memory_max_gb > 0) {
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    how.prefixes.max_bytes = static_cast<std::uint64_t>(arguments.cache_memory_max_gb * gib);
  }
  return backend::open_embedded(owner, how, stop);
}

bool is_url(const backend_arguments& arguments) {
  const bool bare = arguments.selector.empty() && !arguments.base_urls.empty();
  return bare || arguments.selector == "openai-url" || arguments.selector == "anthropic-url";
}

}  // namespace

std::span<const selector> selectors() noexcept { return all_selectors; }

bool looks_like_address(std::string_view word) {
  return word == "localhost" || word.find_first_of(":./") != std::string_view::npos;
}

backend_arguments sized_for(backend_arguments arguments, const suite_arguments& how, std::uint64_t items) {
  if (how.pool.adaptive) {
    arguments.slots_to_fit =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(items, 1, how.pool.highest_tried));
  }
  arguments.keeps_prefixes = how.request.use_prompt_cache;
  return arguments;
}

std::string selector_names() {
  std::string names;
  for (const auto& one : all_selectors) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

result<std::vector<opened>> open_backends(net::loop& owner, const backend_arguments& arguments,
                                          const backend::ask_again& again, const std::stop_token& stop) {
  std::vector<opened> all;
  auto first = open_backend(owner, arguments, again, stop);
  if (!first) return std::move(first).error();
  all.push_back(*std::move(first));
  for (std::size_t i = 1; is_url(arguments) && i < arguments.base_urls.size(); ++i) {
    auto next = open_url(owner, arguments, arguments.base_urls[i], again, stop);
    if (!next) return std::move(next).error();
    // One run has one model: its score would be nobody's otherwise.
    if ((*next)->about().identity != all.front()->about().identity) {
      return usage("the servers at " + arguments.base_urls.front() + " and " + arguments.base_urls[i] +
                   " do not run the same model in the same build; name those that do, and --model");
    }
    all.push_back(*std::move(next));
  }
  return all;
}

result<opened> open_backend(net::loop& owner, const backend_arguments& arguments,
                            const backend::ask_again& again, const std::stop_token& stop) {
  if (is_url(arguments)) {
    if (arguments.base_urls.empty()) return usage(arguments.selector + " needs --base-url http://HOST:PORT");
    return open_url(owner, arguments, arguments.base_urls.front(), again, stop);
  }
  if (arguments.selector == "embedded") return open_in_process(owner, arguments, stop);
  if (arguments.selector == "scripted") {
    if (arguments.script.empty()) return usage("scripted needs --script FILE.jsonl");
    return backend::open_scripted(owner, arguments.script);
  }
  const auto* ways = wire::find_dialect(arguments.selector);
  if (ways != nullptr && !ways->start.program.empty()) return open_server(owner, *ways, arguments, stop);
  // Not repeated: a URL may hold a password.
  if (looks_like_address(arguments.selector)) {
    return usage("a backend has a name: " + selector_names() + "; the URL of a server goes to --base-url");
  }
  return usage("there is no backend \"" + arguments.selector + "\"; there are: " + selector_names());
}

}  // namespace evalcore::cli
