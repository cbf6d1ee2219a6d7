#include "backend.hpp"

#include <string>
#include <utility>

#include <evalcore/backend/probe.hpp>
#include <evalcore/backend/scripted.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/wire/dialect.hpp>

#include "backend_options.hpp"
#include "guard.hpp"
#include "inputs.hpp"
#include "text.hpp"

namespace evalcore::capi {
namespace {

using opened = std::unique_ptr<backend::backend>;

result<backend_kind> kind_of(const std::string& selector) {
  if (selector == "embedded") return embedded_kind;
  if (selector == "openai-url") return openai_kind;
  if (selector == "anthropic-url") return anthropic_kind;
  if (selector == "scripted") return scripted_kind;
  const auto* ways = wire::find_dialect(selector);
  if (ways != nullptr && !ways->start.program.empty()) return managed_kind;
  std::string known = "embedded";
  for (const auto* one : {"openai-url", "anthropic-url", "scripted"}) known += std::string(", ") + one;
  for (const auto& one : wire::dialects()) {
    if (!one.start.program.empty()) known += ", " + std::string(one.name);
  }
  // Not repeated: it may be a URL with a password.
  return misuse("there is no backend of that name; there are: " + known);
}

result<void> only_its_own(const evc_backend_options& how, const std::string& selector, backend_kind kind) {
  for (const auto& one : how.given) {
    if ((one.kinds & kind) == 0) return misuse(selector + " has no use for the option " + one.name);
  }
  return {};
}

error lacks(const std::string& selector, const std::string& what) {
  return misuse(selector + " needs " + what);
}

result<opened> open_url(net::loop& owner, const evc_backend_options& how, const std::string& selector,
                        const std::stop_token& stop) {
  if (how.http.base_url.empty()) return lacks(selector, "a base_url, such as http://127.0.0.1:8080/v1");
  auto http = how.http;
  http.model = how.model;
  http.deadlines = how.deadlines;
  http.again = pool::patient({}, [](const std::string&) {});
  return selector == "anthropic-url" ? backend::connect_anthropic_url(owner, http, stop)
                                     : backend::connect_openai_url(owner, http, stop);
}

result<opened> open_server(net::loop& owner, const evc_backend_options& how, const std::string& selector,
                           const std::stop_token& stop) {
  if (how.model.empty()) return lacks(selector, "a model, the path of one");
  auto managed = how.managed;
  managed.ways = wire::find_dialect(selector);
  managed.model = how.model;
  managed.slots = how.slots;
  managed.context_per_slot = how.context_per_slot;
  managed.threads = how.threads;
  managed.deadlines = how.deadlines;
  return backend::start_managed_server(owner, managed, stop);
}

result<opened> open_in_process(net::loop& owner, const evc_backend_options& how,
                               const std::stop_token& stop) {
  if (how.model.empty()) return lacks("embedded", "a model, the path of a GGUF file");
  if (how.http.api == backend::openai_api::responses)
    return misuse("embedded has no use for the api responses: it has chat and completions");
  auto embedded = how.embedded;
  embedded.model.model_path = how.model;
  embedded.model.context_tokens = how.context_per_slot;
  embedded.model.threads = how.threads;
  embedded.schedule.max_batch_size = how.slots;
  return backend::open_embedded(owner, embedded, stop);
}

result<opened> open_backend(net::loop& owner, const std::string& selector, const evc_backend_options& how,
                            const std::stop_token& stop) {
  const auto kind = kind_of(selector);
  if (!kind) return kind.error();
  if (auto fits = only_its_own(how, selector, *kind); !fits) return std::move(fits).error();
  if ((*kind & url_kinds) != 0) return open_url(owner, how, selector, stop);
  if (*kind == managed_kind) return open_server(owner, how, selector, stop);
  if (*kind == embedded_kind) return open_in_process(owner, how, stop);
  if (how.script.empty()) return lacks(selector, "a script, the path of one");
  return backend::open_scripted(owner, how.script);
}

json::value info_of(const backend::backend& one) {
  const auto& about = one.about();
  json::object identity;
  for (const auto& [name, value] : about.identity) identity.emplace_back(name, value);
  json::array notes;
  for (const auto& note : about.notes) notes.emplace_back(note);
  const auto can = one.can();
  return json::object{
      {"selector", about.selector},
      {"dialect", about.dialect},
      {"model", about.model},
      {"sent_model", about.sent_model.empty() ? json::value() : json::value(about.sent_model)},
      {"address", about.address.empty() ? json::value() : json::value(about.address)},
      {"slots", json::or_null(about.slots)},
      {"context_per_slot", json::or_null(about.context_per_slot)},
      {"identity", std::move(identity)},
      {"notes", std::move(notes)},
      {"capabilities", json::object{{"tokenize", backend::name(can.tokenize)},
                                    {"slot_pinning", backend::name(can.slot_pinning)},
                                    {"share_prefix", backend::name(can.share_prefix)},
                                    {"tools", backend::name(can.tools)},
                                    {"cached_tokens", backend::name(can.cached_tokens)},
                                    {"prompt_logprobs", backend::name(can.prompt_logprobs)}}},
  };
}

}  // namespace

result<std::vector<std::shared_ptr<shared_backend>>> endpoints_of(const evc_runtime* runtime,
                                                                  evc_backend* const* endpoints,
                                                                  std::size_t count) {
  if (auto good = check_usable(runtime); !good) return std::move(good).error();
  if (endpoints == nullptr || count == 0) return misuse("there must be an endpoint at least");
  std::vector<std::shared_ptr<shared_backend>> all;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto good = check_usable(endpoints[i]); !good) return std::move(good).error();
    all.push_back(endpoints[i]->shared);
    if (all.back()->runtime != runtime->shared) return misuse("an endpoint belongs to another runtime");
    if (all.back()->answers->about().identity != all.front()->answers->about().identity) {
      return misuse("the endpoints do not run the same model in the same build");
    }
  }
  return all;
}

std::vector<backend::backend*> answering(const std::vector<std::shared_ptr<shared_backend>>& endpoints) {
  std::vector<backend::backend*> all;
  for (const auto& one : endpoints) all.push_back(one->answers.get());
  return all;
}

}  // namespace evalcore::capi

namespace capi = evalcore::capi;
using evalcore::result;

evc_status evc_backend_open(evc_runtime* runtime, evc_str selector, const evc_backend_options* options,
                            evc_backend** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_usable(runtime); !good) return good;
    const auto name = capi::read_text(selector, "the selector");
    if (!name) return name.error();
    evc_backend_options how;
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
      how = *options;
    }
    if (how.opening.stop_requested()) {
      return evalcore::fail(evalcore::errc::cancelled, evalcore::stage::start, "the opening was cancelled");
    }
    auto made = std::make_shared<capi::shared_backend>();
    made->runtime = runtime->shared;
    const capi::cancellable_wait wait(*made->runtime, how.opening);
    auto opened = capi::open_backend(made->runtime->loop, *name, how, wait.until_ended());
    if (!opened) return std::move(opened).error();
    made->answers = *std::move(opened);
    made->model = how.model;
    made->at_url = !how.http.base_url.empty();
    *out = new evc_backend(std::move(made));
    return {};
  });
}

evc_status evc_backend_info(const evc_backend* backend, evc_text** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_usable(backend); !good) return good;
    *out = new evc_text(evalcore::json::to_text(capi::info_of(*backend->shared->answers)));
    return {};
  });
}

void evc_backend_free(evc_backend* backend) EVC_NOEXCEPT { capi::free_in_its_process(backend); }
