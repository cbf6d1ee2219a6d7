#include "host_backend.hpp"

#include <map>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/c/host_backend.h>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "backend.hpp"
#include "guard.hpp"
#include "inputs.hpp"
#include "queue_calls.hpp"

namespace evalcore::capi {
namespace {

namespace be = ::evalcore::backend;

error gone() { return fail(errc::closed, stage::body, "the host has freed the backend that it played"); }

/// The form in which a host is asked: OpenAI's API without the ways of any server.
result<wire::encoded> encoded(const chat::request& request) {
  if (!request.choices.empty()) {
    return fail(errc::unsupported, stage::send,
                "a backend that a host plays answers in text: choices cannot be scored by likelihood on it");
  }
  return wire::encode_openai_chat(request, wire::dialects().front(), false);
}

}  // namespace

host_backend::host_backend(net::loop& owner, be::info about)
    : loop_(owner), info_(std::move(about)), self_(std::make_shared<host_backend*>(this)) {}

host_backend::~host_backend() {
  loop_.run_and_wait([this] {
    *self_ = nullptr;
    close_all();
  });
}

be::capabilities host_backend::can() const {
  return {.tokenize = be::ability::no, .slot_pinning = be::ability::no, .share_prefix = be::ability::no};
}

result<void> host_backend::check(const chat::request& request) const {
  auto body = encoded(request);
  return body ? result<void>() : std::move(body).error();
}

be::ticket host_backend::start(const chat::request& request, std::shared_ptr<be::sink> to) {
  const auto ticket = ++last_;
  auto body = encoded(request);
  open_.emplace(ticket, asked{.to = std::move(to),
                              .began = std::chrono::steady_clock::now(),
                              .dropped = body ? std::move(body->dropped) : std::vector<std::string>()});
  if (closed_ || !body) {
    later([ticket, why = closed_ ? gone() : body.error()](host_backend& self) { self.over(ticket, why); });
    return ticket;
  }
  auto event = std::make_unique<evc_event>(EVC_EVENT_ASKED);
  event->ticket = ticket;
  event->json = std::move(body->body);
  events.push(std::move(event));
  return ticket;
}

void host_backend::cancel(be::ticket which) {
  const auto found = open_.find(which);
  if (found == open_.end() || std::exchange(found->second.cancelled, true)) return;
  auto event = std::make_unique<evc_event>(EVC_EVENT_WITHDRAWN);
  event->ticket = which;
  events.push(std::move(event));
  later([which](host_backend& self) { self.over(which, fail(errc::cancelled, stage::body, "cancelled")); });
}

void host_backend::later(std::function<void(host_backend&)> what) {
  loop_.post([self = self_, act = std::move(what)] {
    if (*self != nullptr) act(**self);
  });
}

void host_backend::tell_text(std::uint64_t ticket, std::string text) {
  later([ticket, more = std::move(text)](host_backend& self) {
    const auto found = self.open_.find(ticket);
    if (found == self.open_.end() || found->second.cancelled) return;
    auto& one = found->second;
    const auto to = one.to;  // It may end the request from within the call.
    if (!one.first_token) {
      const auto now = std::chrono::steady_clock::now();
      one.first_token = now - one.began;
      to->on_first_token(now);
    }
    to->on_text(more);
  });
}

void host_backend::end(std::uint64_t ticket, result<chat::reply> outcome) {
  later([ticket, what = std::make_shared<result<chat::reply>>(std::move(outcome))](host_backend& self) {
    const auto found = self.open_.find(ticket);
    if (found != self.open_.end() && !found->second.cancelled) self.over(ticket, std::move(*what));
  });
}

void host_backend::over(std::uint64_t ticket, result<chat::reply>&& outcome) {
  auto node = open_.extract(ticket);
  if (node.empty()) return;
  auto& one = node.mapped();
  if (outcome) {
    outcome->timing = {.first_token = one.first_token, .total = std::chrono::steady_clock::now() - one.began};
    if (outcome->model.empty()) outcome->model = info_.model;
    outcome->dropped = std::move(one.dropped);
  }
  one.to->on_end(std::move(outcome));
}

void host_backend::close_all() {
  closed_ = true;
  while (!open_.empty()) over(open_.begin()->first, gone());
}

void host_backend::close() {
  later([](host_backend& self) { self.close_all(); });
}

}  // namespace evalcore::capi

evc_backend::~evc_backend() {
  if (host == nullptr) return;
  // Waits for one that runs: what it is called with may be gone next.
  host->events.set_hook(nullptr, nullptr);
  host->close();
}

namespace capi = evalcore::capi;
using evalcore::result;

namespace {

/// Runs `work` with the backend that a host plays.
template <class Do>
evc_status with(const evc_backend* backend, evc_error** error, Do&& work) noexcept {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::check_usable(backend); !good) return good;
    if (backend->host == nullptr) {
      return evalcore::fail(evalcore::errc::unsupported, evalcore::stage::none,
                            "the backend " + backend->shared->answers->about().selector +
                                " answers by itself; a host plays what evc_backend_new_host made");
    }
    return work(*backend->host);
  });
}

auto on_events_of(evc_backend* backend) {
  return [backend](auto&& work) {
    return with(backend, nullptr, [&](capi::host_backend& host) { return work(host.events); });
  };
}

result<std::map<std::string, std::string>> read_identity(evc_str given) {
  const auto text = capi::read_text(given, "the identity");
  if (!text) return text.error();
  std::map<std::string, std::string> identity;
  if (text->empty()) return identity;
  const auto root = evalcore::json::parse(*text, evalcore::json::repeated_keys::refused);
  const auto* members = root ? root->if_object() : nullptr;
  if (members == nullptr) return capi::misuse("the identity is no JSON object");
  for (const auto& [name, value] : *members) {
    if (value.if_string() == nullptr) return capi::misuse("the identity's \"" + name + "\" is no text");
    identity.emplace(name, *value.if_string());
  }
  return identity;
}

}  // namespace

evc_status evc_backend_new_host(evc_runtime* runtime, evc_str model, evc_str identity, evc_backend** out,
                                evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_usable(runtime); !good) return good;
    auto name = capi::read_text(model, "the model");
    if (!name) return std::move(name).error();
    if (name->empty()) return capi::misuse("the model has no name");
    auto depends_on = read_identity(identity);
    if (!depends_on) return std::move(depends_on).error();
    evalcore::backend::info about;
    about.selector = "host";
    about.model = *std::move(name);
    about.identity = *std::move(depends_on);
    about.identity.insert_or_assign("selector", about.selector);
    about.identity.insert_or_assign("model", about.model);
    auto made = std::make_shared<capi::shared_backend>();
    made->runtime = runtime->shared;
    auto host = std::make_unique<capi::host_backend>(runtime->shared->loop, std::move(about));
    auto* const played = host.get();
    made->answers = std::move(host);
    *out = new evc_backend(std::move(made), played);
    return {};
  });
}

evc_status evc_backend_tell_text(evc_backend* backend, uint64_t ticket, evc_str text) EVC_NOEXCEPT {
  return with(backend, nullptr, [&](capi::host_backend& host) -> result<void> {
    auto more = capi::read_text(text, "the text");
    if (!more) return std::move(more).error();
    host.tell_text(ticket, *std::move(more));
    return {};
  });
}

evc_status evc_backend_answer(evc_backend* backend, uint64_t ticket, evc_str json,
                              evc_error** error) EVC_NOEXCEPT {
  return with(backend, error, [&](capi::host_backend& host) -> result<void> {
    const auto body = capi::read_text(json, "the answer");
    if (!body) return body.error();
    auto reply = evalcore::wire::decode_openai_chat(*body, evalcore::wire::dialects().front());
    if (!reply) return std::move(reply).error();
    host.end(ticket, std::move(reply));
    return {};
  });
}

evc_status evc_backend_fail(evc_backend* backend, uint64_t ticket, evc_status why,
                            evc_str message) EVC_NOEXCEPT {
  return with(backend, nullptr, [&](capi::host_backend& host) -> result<void> {
    auto says = capi::read_text(message, "the message");
    if (!says) return std::move(says).error();
    if (why == EVC_OK) return capi::misuse("EVC_OK is no failure");
    // A run takes it for the end of its own asking, and counts no failure.
    if (why == EVC_E_CANCELLED) return capi::misuse("EVC_E_CANCELLED is no failure: only who asks cancels");
    host.end(ticket, evalcore::fail(capi::code_of(why), evalcore::stage::body, *std::move(says)));
    return {};
  });
}

evc_status evc_backend_poll(evc_backend* backend, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT {
  return capi::poll_with(on_events_of(backend), timeout_ms, out);
}

evc_status evc_backend_wake(evc_backend* backend) EVC_NOEXCEPT {
  return capi::wake_with(on_events_of(backend));
}

int32_t evc_backend_event_fd(evc_backend* backend) EVC_NOEXCEPT {
  return capi::descriptor_with(on_events_of(backend));
}

evc_status evc_backend_set_wakeup(evc_backend* backend, void (*hook)(void* context),
                                  void* context) EVC_NOEXCEPT {
  return capi::hook_with(on_events_of(backend), hook, context);
}
