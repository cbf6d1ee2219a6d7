#include "request.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <evalcore/chat/history.hpp>
#include <evalcore/run/request_json.hpp>

#include "guard.hpp"
#include "inputs.hpp"
#include "reply.hpp"

namespace capi = evalcore::capi;
namespace chat = evalcore::chat;
using evalcore::result;

namespace {

template <class Take>
evc_status set_text(evc_request* request, evc_str text, const char* what, Take&& take) noexcept {
  return capi::guard_set(request, [&]() -> result<void> {
    auto read = capi::read_text(text, what);
    if (!read) return std::move(read).error();
    return take(*std::move(read));
  });
}

/// A text that must not be empty.
template <class Take>
evc_status set_some_text(evc_request* request, evc_str text, const char* what, Take&& take) noexcept {
  return set_text(request, text, what, [&](std::string read) -> result<void> {
    if (read.empty()) return capi::misuse(std::string(what) + " is empty");
    take(std::move(read));
    return {};
  });
}

/// JSON text, read by `read`, which returns a result.
template <class Read, class Take>
evc_status set_json(evc_request* request, evc_str json, const char* what, evc_error** error, Read&& read,
                    Take&& take) noexcept {
  return capi::guard_set(
      request,
      [&]() -> result<void> {
        const auto text = capi::read_text(json, what);
        if (!text) return text.error();
        auto made = read(*text);
        if (!made) return std::move(made).error();
        take(*std::move(made));
        return {};
      },
      error);
}

template <class Take>
evc_status set_tokens(evc_request* request, evc_tokens tokens, const char* what, Take&& take) noexcept {
  return capi::guard_set(request, [&]() -> result<void> {
    auto read = capi::read_tokens(tokens, what);
    if (!read) return std::move(read).error();
    return take(*std::move(read));
  });
}

std::optional<chat::role> role_of(std::int32_t number) {
  switch (number) {
    case EVC_ROLE_SYSTEM:
      return chat::role::system;
    case EVC_ROLE_DEVELOPER:
      return chat::role::developer;
    case EVC_ROLE_USER:
      return chat::role::user;
    case EVC_ROLE_ASSISTANT:
      return chat::role::assistant;
    default:
      return std::nullopt;
  }
}

}  // namespace

result<evalcore::pool::work> evc_request::work() const {
  evalcore::pool::work made{.request = chat, .wants_text = stream};
  made.request.hints.prompt_cache_key = cache_key;
  if (!cache_key.empty()) made.affinity = std::hash<std::string>()(cache_key) | 1U;
  if (!context && continuations.empty()) {
    if (chat.messages.empty()) return capi::misuse("the request asks nothing: it has no message");
    return made;
  }
  if (!context) return capi::misuse("the request has continuations, but no context");
  if (continuations.empty()) return capi::misuse("the request has a context, but no continuation");
  if (!chat.messages.empty()) {
    return capi::misuse("the request has messages and a context: it is one or the other");
  }
  for (const auto& one : continuations) {
    if (one.index() != context->index()) {
      return capi::misuse("the context and all continuations are text, or all of them are tokens");
    }
    made.scores.push_back(
        {.model = chat.model, .context = *context, .continuation = one, .hints = made.request.hints});
  }
  return made;
}

evc_request* evc_request_new(void) EVC_NOEXCEPT {
  try {
    return new evc_request;
  } catch (...) {
    return nullptr;
  }
}
void evc_request_free(evc_request* request) EVC_NOEXCEPT { capi::free_handle(request); }
evc_str evc_request_refusal(const evc_request* request) EVC_NOEXCEPT { return capi::refusal_of(request); }

evc_status evc_request_set_model(evc_request* request, evc_str model) EVC_NOEXCEPT {
  return set_text(request, model, "the model", [&](std::string name) -> result<void> {
    request->chat.model = std::move(name);
    return {};
  });
}

evc_status evc_request_add_message(evc_request* request, int32_t role, evc_str text) EVC_NOEXCEPT {
  return set_text(request, text, "the message", [&](std::string says) -> result<void> {
    const auto who = role_of(role);
    if (!who) return capi::misuse("there is no such role");
    chat::message turn;
    turn.who = *who;
    turn.text = std::move(says);
    request->chat.messages.push_back(std::move(turn));
    return {};
  });
}

evc_status evc_request_add_reply(evc_request* request, const evc_reply* reply) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (auto good = capi::check_live(reply); !good) return good;
    request->chat.messages.push_back(chat::assistant_turn(reply->what));
    return {};
  });
}

evc_status evc_request_add_tool_result(evc_request* request, evc_str call_id, evc_str text,
                                       int32_t is_error) EVC_NOEXCEPT {
  return set_text(request, text, "the tool's result", [&](std::string says) -> result<void> {
    auto id = capi::read_text(call_id, "the id of the call");
    if (!id) return std::move(id).error();
    chat::message turn;
    turn.who = chat::role::tool;
    turn.text = std::move(says);
    turn.call_id = *std::move(id);
    turn.is_error = is_error != 0;
    request->chat.messages.push_back(std::move(turn));
    return {};
  });
}

evc_status evc_request_add_messages(evc_request* request, evc_str json, evc_error** error) EVC_NOEXCEPT {
  return set_json(request, json, "the messages", error, evalcore::run::messages_from_json, [&](auto turns) {
    for (auto& turn : turns) request->chat.messages.push_back(std::move(turn));
  });
}

evc_status evc_request_set_tools(evc_request* request, evc_str json, evc_error** error) EVC_NOEXCEPT {
  return set_json(request, json, "the tools", error, evalcore::run::tools_from_json,
                  [&](auto tools) { request->chat.tools = std::move(tools); });
}

evc_status evc_request_set_params(evc_request* request, evc_str json, evc_error** error) EVC_NOEXCEPT {
  return set_json(
      request, json, "the parameters", error,
      [&](const std::string& text) { return evalcore::run::with_params_from_json(request->chat, text); },
      [&](auto changed) { request->chat = std::move(changed); });
}

evc_status evc_request_set_max_tokens(evc_request* request, uint32_t tokens) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (tokens == 0) return capi::misuse("max_tokens is 0");
    request->chat.params.max_tokens = tokens;
    return {};
  });
}
evc_status evc_request_set_temperature(evc_request* request, double temperature) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (!capi::in_range(temperature, 0, std::numeric_limits<double>::max())) {
      return capi::misuse("the temperature is negative or not finite");
    }
    request->chat.params.temperature = temperature;
    return {};
  });
}
evc_status evc_request_set_top_p(evc_request* request, double top_p) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (!capi::in_range(top_p, 0, 1)) return capi::misuse("top_p is not from 0 to 1");
    request->chat.params.top_p = top_p;
    return {};
  });
}
evc_status evc_request_set_top_k(evc_request* request, uint32_t top_k) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    if (top_k == 0) return capi::misuse("top_k is 0");
    request->chat.params.top_k = top_k;
    return {};
  });
}
evc_status evc_request_set_seed(evc_request* request, int64_t seed) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    request->chat.params.seed = seed;
    return {};
  });
}
evc_status evc_request_add_stop(evc_request* request, evc_str text) EVC_NOEXCEPT {
  return set_some_text(request, text, "the stop string",
                       [&](std::string stop) { request->chat.params.stop.push_back(std::move(stop)); });
}
evc_status evc_request_set_cache_key(evc_request* request, evc_str key) EVC_NOEXCEPT {
  return set_text(request, key, "the cache key", [&](std::string named) -> result<void> {
    request->cache_key = std::move(named);
    return {};
  });
}
evc_status evc_request_set_stream(evc_request* request, int32_t wanted) EVC_NOEXCEPT {
  return capi::guard_set(request, [&]() -> result<void> {
    request->stream = wanted != 0;
    return {};
  });
}

evc_status evc_request_set_context(evc_request* request, evc_str text) EVC_NOEXCEPT {
  return set_text(request, text, "the context", [&](std::string says) -> result<void> {
    request->context = std::move(says);
    return {};
  });
}
evc_status evc_request_set_context_tokens(evc_request* request, evc_tokens tokens) EVC_NOEXCEPT {
  return set_tokens(request, tokens, "the tokens of the context", [&](chat::token_ids ids) -> result<void> {
    request->context = std::move(ids);
    return {};
  });
}
evc_status evc_request_add_continuation(evc_request* request, evc_str text) EVC_NOEXCEPT {
  return set_some_text(request, text, "the continuation",
                       [&](std::string says) { request->continuations.emplace_back(std::move(says)); });
}
evc_status evc_request_add_continuation_tokens(evc_request* request, evc_tokens tokens) EVC_NOEXCEPT {
  return set_tokens(request, tokens, "the tokens of the continuation",
                    [&](chat::token_ids ids) -> result<void> {
                      if (ids.empty()) return capi::misuse("the continuation is empty");
                      request->continuations.emplace_back(std::move(ids));
                      return {};
                    });
}
