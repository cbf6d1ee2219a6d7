#include "backend_options.hpp"

#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include <evalcore/wire/dialect.hpp>

#include "guard.hpp"
#include "inputs.hpp"

namespace capi = evalcore::capi;
using evalcore::result;

namespace {

constexpr double most_seconds = 1e7;

/// `change` returns result<void>; what it refuses counts as not given.
template <class Change>
evc_status set(evc_backend_options* options, capi::named_option which, Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = change(); !good) return good;
    options->given.push_back(which);
    return {};
  });
}

template <class Take>
evc_status set_text(evc_backend_options* options, capi::named_option which, evc_str text,
                    Take&& take) noexcept {
  return set(options, which, [&]() -> result<void> {
    auto read = capi::read_text(text, which.name);
    if (!read) return std::move(read).error();
    return take(*std::move(read));
  });
}

/// Of a member, by a pointer that is good only if the handle is.
template <class Take>
evc_status keep_text(evc_backend_options* options, capi::named_option which, evc_str text,
                     Take&& place) noexcept {
  return set_text(options, which, text, [&](std::string read) -> result<void> {
    place(*options) = std::move(read);
    return {};
  });
}

evc_status add_named(
    evc_backend_options* options, capi::named_option which, evc_str name, evc_str value,
    std::vector<evalcore::backend::named_value> evalcore::backend::credentials::* into) noexcept {
  return set(options, which, [&]() -> result<void> {
    auto key = capi::read_text(name, which.name);
    if (!key) return std::move(key).error();
    auto held = capi::read_text(value, which.name);
    if (!held) return std::move(held).error();
    if (key->empty()) return capi::misuse(std::string(which.name) + " has no name");
    (options->http.opens.*into).push_back({*std::move(key), *std::move(held)});
    return {};
  });
}

template <class Place>
evc_status keep_count(evc_backend_options* options, capi::named_option which, std::uint64_t count,
                      std::uint64_t least, std::uint64_t most, Place&& place) noexcept {
  return set(options, which, [&]() -> result<void> {
    if (auto good = capi::check_range(which.name, count, least, most); !good) return good;
    place(*options);
    return {};
  });
}

evc_status keep_deadline(evc_backend_options* options, const char* name, double seconds,
                         evalcore::duration evalcore::net::deadlines::* place) noexcept {
  return set(options, {name, capi::server_kinds}, [&]() -> result<void> {
    if (auto good = capi::check_range(name, seconds, 0, most_seconds); !good) return good;
    options->deadlines.*place = evalcore::duration(std::llround(seconds * 1e9));
    return {};
  });
}

}  // namespace

evc_backend_options* evc_backend_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_backend_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_backend_options_free(evc_backend_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_backend_options_refusal(const evc_backend_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_backend_options_cancel_open(evc_backend_options* options) EVC_NOEXCEPT {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_live(options); !good) return good;
    options->opening.request_stop();
    return {};
  });
}

evc_status evc_backend_options_set_model(evc_backend_options* options, evc_str model) EVC_NOEXCEPT {
  return keep_text(options, {"model", capi::local_kinds | capi::url_kinds}, model,
                   [](auto& o) -> auto& { return o.model; });
}

// Servers at a URL.

evc_status evc_backend_options_set_base_url(evc_backend_options* options, evc_str url) EVC_NOEXCEPT {
  return keep_text(options, {"base_url", capi::url_kinds}, url,
                   [](auto& o) -> auto& { return o.http.base_url; });
}
evc_status evc_backend_options_set_dialect(evc_backend_options* options, evc_str name) EVC_NOEXCEPT {
  return set_text(options, {"dialect", capi::url_kinds}, name, [&](const std::string& word) -> result<void> {
    const auto* ways = evalcore::wire::find_dialect(word);
    if (ways == nullptr) return capi::misuse("there is no dialect of that name");
    options->http.ways = ways;
    return {};
  });
}
evc_status evc_backend_options_set_api(evc_backend_options* options, evc_str name) EVC_NOEXCEPT {
  return set_text(options, {"api", capi::openai_kind | capi::embedded_kind}, name,
                  [&](const std::string& word) -> result<void> {
                    using enum evalcore::backend::openai_api;
                    if (word != "chat" && word != "responses" && word != "completions")
                      return capi::misuse("api is none of chat, responses, completions");
                    options->http.api = word == "chat" ? chat : word == "responses" ? responses : completions;
                    options->embedded.completions = word == "completions";
                    return {};
                  });
}
evc_status evc_backend_options_set_anthropic_version(evc_backend_options* options,
                                                     evc_str version) EVC_NOEXCEPT {
  return set_text(options, {"anthropic_version", capi::anthropic_kind}, version,
                  [&](const std::string& word) -> result<void> {
                    const auto known = evalcore::wire::anthropic_version_from(word);
                    if (!known) return capi::misuse("there is no such version of the messages API");
                    options->http.version = *known;
                    return {};
                  });
}
evc_status evc_backend_options_set_api_key_env(evc_backend_options* options, evc_str variable) EVC_NOEXCEPT {
  return keep_text(options, {"api_key_env", capi::url_kinds}, variable,
                   [](auto& o) -> auto& { return o.http.opens.key_env; });
}
evc_status evc_backend_options_set_api_key_file(evc_backend_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, {"api_key_file", capi::url_kinds}, path,
                   [](auto& o) -> auto& { return o.http.opens.key_file; });
}
evc_status evc_backend_options_set_api_key_command(evc_backend_options* options,
                                                   evc_str command) EVC_NOEXCEPT {
  return keep_text(options, {"api_key_command", capi::url_kinds}, command,
                   [](auto& o) -> auto& { return o.http.opens.key_command; });
}
evc_status evc_backend_options_set_api_key_header(evc_backend_options* options, evc_str name) EVC_NOEXCEPT {
  return set_text(options, {"api_key_header", capi::url_kinds}, name,
                  [&](const std::string& word) -> result<void> {
                    if (word != "bearer" && word != "x-api-key") {
                      return capi::misuse("api_key_header is neither bearer nor x-api-key");
                    }
                    using placement = evalcore::backend::credentials::placement;
                    options->http.opens.where = word == "bearer" ? placement::bearer : placement::x_api_key;
                    return {};
                  });
}
evc_status evc_backend_options_add_header(evc_backend_options* options, evc_str name,
                                          evc_str value) EVC_NOEXCEPT {
  return add_named(options, {"header", capi::url_kinds}, name, value,
                   &evalcore::backend::credentials::headers);
}
evc_status evc_backend_options_add_query(evc_backend_options* options, evc_str name,
                                         evc_str value) EVC_NOEXCEPT {
  return add_named(options, {"query", capi::url_kinds}, name, value, &evalcore::backend::credentials::query);
}
evc_status evc_backend_options_set_ca_file(evc_backend_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, {"ca_file", capi::url_kinds}, path,
                   [](auto& o) -> auto& { return o.http.tls.ca_file; });
}
evc_status evc_backend_options_set_tls_server_name(evc_backend_options* options, evc_str name) EVC_NOEXCEPT {
  return keep_text(options, {"tls_server_name", capi::url_kinds}, name,
                   [](auto& o) -> auto& { return o.http.tls.server_name; });
}
evc_status evc_backend_options_set_insecure(evc_backend_options* options, int32_t insecure) EVC_NOEXCEPT {
  return keep_count(options, {"insecure", capi::url_kinds}, 0, 0, 0,
                    [&](auto& o) { o.http.tls.verify = insecure == 0; });
}
evc_status evc_backend_options_set_stream(evc_backend_options* options, int32_t stream) EVC_NOEXCEPT {
  return keep_count(options, {"stream", capi::url_kinds}, 0, 0, 0,
                    [&](auto& o) { o.http.stream = stream != 0; });
}

// Models on this machine.

evc_status evc_backend_options_set_slots(evc_backend_options* options, uint32_t slots) EVC_NOEXCEPT {
  return keep_count(options, {"slots", capi::local_kinds}, slots, 1, 256, [&](auto& o) { o.slots = slots; });
}
evc_status evc_backend_options_set_context_per_slot(evc_backend_options* options,
                                                    uint32_t tokens) EVC_NOEXCEPT {
  return keep_count(options, {"context_per_slot", capi::local_kinds}, tokens, 16, 10'000'000,
                    [&](auto& o) { o.context_per_slot = tokens; });
}
evc_status evc_backend_options_set_threads(evc_backend_options* options, uint32_t threads) EVC_NOEXCEPT {
  return keep_count(options, {"threads", capi::local_kinds}, threads, 1, 1024,
                    [&](auto& o) { o.threads = threads; });
}
evc_status evc_backend_options_set_evaluation(evc_backend_options* options, evc_str name) EVC_NOEXCEPT {
  return set(options, {"evaluation", capi::embedded_kind}, [&]() -> result<void> {
    const auto mode = capi::read_evaluation(name);
    if (!mode) return mode.error();
    options->embedded.model.mode = *mode;
    return {};
  });
}
evc_status evc_backend_options_set_verdict_folder(evc_backend_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, {"verdict_folder", capi::embedded_kind}, path,
                   [](auto& o) -> auto& { return o.embedded.verdict_folder; });
}
evc_status evc_backend_options_set_cache_max_bytes(evc_backend_options* options,
                                                   uint64_t bytes) EVC_NOEXCEPT {
  return keep_count(options, {"cache_max_bytes", capi::embedded_kind}, bytes, 1, UINT64_MAX,
                    [&](auto& o) { o.embedded.prefixes.max_bytes = bytes; });
}

// Servers that evalcore starts.

evc_status evc_backend_options_set_server_program(evc_backend_options* options,
                                                  evc_str program) EVC_NOEXCEPT {
  return keep_text(options, {"server_program", capi::managed_kind}, program,
                   [](auto& o) -> auto& { return o.managed.program; });
}
evc_status evc_backend_options_set_port(evc_backend_options* options, uint16_t port) EVC_NOEXCEPT {
  return keep_count(options, {"port", capi::managed_kind}, port, 0, UINT16_MAX,
                    [&](auto& o) { o.managed.port = port; });
}
evc_status evc_backend_options_add_backend_arg(evc_backend_options* options, evc_str argument) EVC_NOEXCEPT {
  return set_text(options, {"backend_arg", capi::managed_kind}, argument,
                  [&](std::string read) -> result<void> {
                    options->managed.extra_args.push_back(std::move(read));
                    return {};
                  });
}
evc_status evc_backend_options_set_share_prefix(evc_backend_options* options, int32_t share) EVC_NOEXCEPT {
  return keep_count(options, {"share_prefix", capi::managed_kind}, 0, 0, 0,
                    [&](auto& o) { o.managed.share_prefix = share != 0; });
}
evc_status evc_backend_options_set_ready_timeout_s(evc_backend_options* options,
                                                   uint32_t seconds) EVC_NOEXCEPT {
  return keep_count(options, {"ready_timeout", capi::managed_kind}, seconds, 1, 86'400,
                    [&](auto& o) { o.managed.ready_deadline = std::chrono::seconds(seconds); });
}

evc_status evc_backend_options_set_script(evc_backend_options* options, evc_str path) EVC_NOEXCEPT {
  return keep_text(options, {"script", capi::scripted_kind}, path, [](auto& o) -> auto& { return o.script; });
}

// Deadlines.

evc_status evc_backend_options_set_connect_timeout_s(evc_backend_options* options,
                                                     double seconds) EVC_NOEXCEPT {
  return keep_deadline(options, "connect_timeout", seconds, &evalcore::net::deadlines::connect);
}
evc_status evc_backend_options_set_first_byte_timeout_s(evc_backend_options* options,
                                                        double seconds) EVC_NOEXCEPT {
  return keep_deadline(options, "first_byte_timeout", seconds, &evalcore::net::deadlines::first_byte);
}
evc_status evc_backend_options_set_idle_timeout_s(evc_backend_options* options, double seconds) EVC_NOEXCEPT {
  return keep_deadline(options, "idle_timeout", seconds, &evalcore::net::deadlines::idle);
}
evc_status evc_backend_options_set_attempt_timeout_s(evc_backend_options* options,
                                                     double seconds) EVC_NOEXCEPT {
  return keep_deadline(options, "attempt_timeout", seconds, &evalcore::net::deadlines::attempt);
}
