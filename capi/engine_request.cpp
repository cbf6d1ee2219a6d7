#include "engine_request.hpp"

#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/request_json.hpp>

#include "guard.hpp"
#include "inputs.hpp"

namespace engine = evalcore::engine;
using evalcore::result;

namespace {

namespace capi = evalcore::capi;

/// Tries a change on a copy: what is refused changes nothing.
template <class Change>
evc_status set(evc_engine_options* options, Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    evc_engine_options changed = *options;
    change(changed);
    if (auto good = check(changed.how); !good) return good;
    if (auto good = check(changed.prefixes); !good) return good;
    *options = changed;
    return {};
  });
}

/// `change` returns result<void>.
template <class Change>
evc_status set_of_model(evc_engine_options* options, const char* name, Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = change(options->model); !good) return good;
    options->only_of_a_model = name;
    return {};
  });
}

template <class Change>
evc_status set(evc_engine_request* request, Change&& change) noexcept {
  return capi::guard_set(request, [&]() -> result<void> {
    change(request->what);
    return {};
  });
}

template <class Change>
evc_status set_text(evc_engine_request* request, const char* name, evc_str given, Change&& change) noexcept {
  return capi::guard_set(request, [&]() -> result<void> {
    auto text = capi::read_text(given, name);
    if (!text) return std::move(text).error();
    change(request->what, *std::move(text));
    return {};
  });
}

template <class Change>
evc_status set_tokens(evc_engine_request* request, const char* name, evc_tokens given,
                      Change&& change) noexcept {
  return capi::guard_set(request, [&]() -> result<void> {
    auto ids = capi::read_tokens(given, name);
    if (!ids) return std::move(ids).error();
    change(request->what, std::vector<engine::token>(ids->begin(), ids->end()));
    return {};
  });
}

}  // namespace

evc_engine_options* evc_engine_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_engine_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_engine_options_free(evc_engine_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_engine_options_refusal(const evc_engine_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_engine_options_set_max_batch_size(evc_engine_options* options,
                                                 uint32_t requests) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.how.max_batch_size = requests; });
}
evc_status evc_engine_options_set_max_queue_size(evc_engine_options* options,
                                                 uint32_t requests) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.how.max_queue_size = requests; });
}
evc_status evc_engine_options_set_batch_wait_ms(evc_engine_options* options,
                                                uint32_t milliseconds) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.how.batch_wait_ms = milliseconds; });
}
evc_status evc_engine_options_set_queue_timeout_s(evc_engine_options* options, double seconds) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.how.queue_timeout_s = seconds; });
}
evc_status evc_engine_options_set_output_queue_size(evc_engine_options* options,
                                                    uint32_t records) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.how.output_queue_size = records; });
}
evc_status evc_engine_options_set_per_row_sampling(evc_engine_options* options,
                                                   int32_t together) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.per_row_sampling = together != 0; });
}
evc_status evc_engine_options_set_cache_max_bytes(evc_engine_options* options, uint64_t bytes) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.prefixes.max_bytes = bytes; });
}
evc_status evc_engine_options_set_cache_max_snapshots(evc_engine_options* options,
                                                      uint32_t snapshots) EVC_NOEXCEPT {
  return set(options, [&](auto& o) { o.prefixes.max_snapshots = snapshots; });
}

evc_status evc_engine_options_set_context_tokens(evc_engine_options* options, uint32_t tokens) EVC_NOEXCEPT {
  return set_of_model(options, "context_tokens", [&](auto& model) -> result<void> {
    if (auto good = capi::check_range("context_tokens", std::uint64_t{tokens}, 1, UINT64_MAX); !good)
      return good;
    model.context_tokens = tokens;
    return {};
  });
}
evc_status evc_engine_options_set_threads(evc_engine_options* options, uint32_t threads) EVC_NOEXCEPT {
  return set_of_model(options, "threads", [&](auto& model) -> result<void> {
    if (auto good = capi::check_range("threads", std::uint64_t{threads}, 1, UINT64_MAX); !good) return good;
    model.threads = threads;
    return {};
  });
}
evc_status evc_engine_options_set_evaluation(evc_engine_options* options, evc_str name) EVC_NOEXCEPT {
  return set_of_model(options, "evaluation", [&](auto& model) -> result<void> {
    auto mode = capi::read_evaluation(name);
    if (!mode) return std::move(mode).error();
    model.mode = *mode;
    return {};
  });
}
evc_status evc_engine_options_set_verdict_folder(evc_engine_options* options, evc_str path) EVC_NOEXCEPT {
  return set_of_model(options, "verdict_folder", [&](auto&) -> result<void> {
    auto read = capi::read_text(path, "verdict_folder");
    if (!read) return std::move(read).error();
    options->verdict_folder = *std::move(read);
    return {};
  });
}

evc_engine_request* evc_engine_request_new(void) EVC_NOEXCEPT {
  try {
    return new evc_engine_request;
  } catch (...) {
    return nullptr;
  }
}
void evc_engine_request_free(evc_engine_request* request) EVC_NOEXCEPT { capi::free_handle(request); }
evc_str evc_engine_request_refusal(const evc_engine_request* request) EVC_NOEXCEPT {
  return capi::refusal_of(request);
}

evc_status evc_engine_request_set_prompt(evc_engine_request* request, evc_str text,
                                         int32_t special) EVC_NOEXCEPT {
  return set_text(request, "the prompt", text, [&](auto& r, std::string&& prompt) {
    if (special != 0) {
      r.prompt = std::move(prompt);
    } else {
      r.prompt = engine::plain_text{std::move(prompt)};
    }
  });
}
evc_status evc_engine_request_set_prompt_tokens(evc_engine_request* request, evc_tokens tokens) EVC_NOEXCEPT {
  return set_tokens(request, "the prompt", tokens,
                    [](auto& r, std::vector<engine::token>&& ids) { r.prompt = std::move(ids); });
}
evc_status evc_engine_request_set_messages(evc_engine_request* request, evc_str json,
                                           evc_error** error) EVC_NOEXCEPT {
  return capi::guard_set(
      request,
      [&]() -> result<void> {
        const auto text = capi::read_text(json, "the messages");
        if (!text) return text.error();
        auto turns = evalcore::run::messages_from_json(*text);
        if (!turns) return std::move(turns).error();
        evalcore::chat::request asked;
        asked.messages = *std::move(turns);
        request->what.prompt = std::move(asked);
        return {};
      },
      error);
}
evc_status evc_engine_request_set_max_tokens(evc_engine_request* request, uint32_t tokens) EVC_NOEXCEPT {
  return set(request, [&](auto& r) { r.max_tokens = tokens; });
}
evc_status evc_engine_request_set_temperature(evc_engine_request* request, double temperature) EVC_NOEXCEPT {
  return set(request, [&](auto& r) { r.how.temperature = temperature; });
}
evc_status evc_engine_request_set_top_p(evc_engine_request* request, double top_p) EVC_NOEXCEPT {
  return set(request, [&](auto& r) { r.how.top_p = top_p; });
}
evc_status evc_engine_request_set_top_k(evc_engine_request* request, uint32_t top_k) EVC_NOEXCEPT {
  return set(request, [&](auto& r) { r.how.top_k = top_k; });
}
evc_status evc_engine_request_set_seed(evc_engine_request* request, uint64_t seed) EVC_NOEXCEPT {
  return set(request, [&](auto& r) { r.how.seed = seed; });
}
evc_status evc_engine_request_set_controls(evc_engine_request* request, evc_str json,
                                           evc_error** error) EVC_NOEXCEPT {
  return capi::guard_set(
      request,
      [&]() -> result<void> {
        const auto text = capi::read_text(json, "the controls");
        if (!text) return text.error();
        const auto parsed = evalcore::json::parse(*text);
        if (!parsed || parsed->if_object() == nullptr) {
          return evalcore::fail(evalcore::errc::invalid_argument, evalcore::stage::config,
                                "the controls of a request must be a JSON object");
        }
        engine::sampling changed = request->what.how;
        if (auto good = set_controls(*parsed->if_object(), changed); !good) return good;
        request->what.how = std::move(changed);
        return {};
      },
      error);
}
evc_status evc_engine_request_add_stop(evc_engine_request* request, evc_str text) EVC_NOEXCEPT {
  return set_text(request, "a stop string", text,
                  [](auto& r, std::string&& stop) { r.stop.push_back(std::move(stop)); });
}
evc_status evc_engine_request_set_logprobs(evc_engine_request* request, uint32_t top) EVC_NOEXCEPT {
  return set(request, [&](auto& r) {
    r.logprobs = true;
    r.top_logprobs = top;
  });
}
evc_status evc_engine_request_add_continuation(evc_engine_request* request, evc_tokens tokens) EVC_NOEXCEPT {
  return set_tokens(request, "a continuation", tokens, [](auto& r, std::vector<engine::token>&& ids) {
    r.continuations.push_back(std::move(ids));
  });
}
evc_status evc_engine_request_set_cache(evc_engine_request* request, evc_str scope,
                                        evc_str key) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    auto among = capi::read_text(scope, "the scope");
    if (!among) return std::move(among).error();
    auto name = capi::read_text(key, "the key");
    if (!name) return std::move(name).error();
    request->what.share = engine::prefix_sharing{.key = *std::move(name), .scope = *std::move(among)};
    return {};
  });
}
evc_status evc_engine_request_add_cache_cut(evc_engine_request* request, uint32_t tokens) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (!request->what.share) {
      return evalcore::fail(evalcore::errc::invalid_argument, evalcore::stage::config,
                            "a cut needs a cache key: set_cache comes first");
    }
    auto& cuts = request->what.share->cuts;
    if (!cuts) cuts.emplace();
    cuts->push_back(tokens);
    return {};
  });
}
evc_status evc_engine_request_set_progress(evc_engine_request* request, int32_t wanted) EVC_NOEXCEPT {
  return set(request, [&](auto& r) {
    r.watch_prefill = wanted != 0;
    request->progress = wanted != 0;
  });
}
