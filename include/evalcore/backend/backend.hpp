#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::backend {

enum class ability : std::uint8_t { unknown, no, yes };

/// Who answers. `identity` holds what an answer may depend on (selector, dialect, model id, model file
/// hash, server build, template hash); never a URL, port or key.
struct info {
  std::string selector;
  std::string dialect;
  std::string model;
  std::string sent_model;  ///< The model's name in requests that name none; empty: none is sent.
  std::map<std::string, std::string> identity;
  std::optional<std::uint32_t> slots;             ///< Requests that it computes side by side.
  std::optional<std::uint64_t> context_per_slot;  ///< Tokens, prompt and answer together.
  std::string address;  ///< Where it is, for people; empty: nowhere. Never part of the identity.
  std::optional<wire::cache_ways> cache;  ///< Where the backend itself knows; else its dialect does.
  /// A request without a temperature is answered greedily.
  bool greedy_by_default = false;
  std::vector<std::string> notes;  ///< What whoever runs it should hear. Never part of the identity.
};

/// What is left of one of a server's own limits.
struct rate_window {
  std::optional<std::uint64_t> limit;  ///< In a minute, as the common servers count.
  std::optional<std::uint64_t> remaining;
  std::optional<duration> resets_in;

  bool operator==(const rate_window&) const = default;
};
struct rate_report {
  rate_window requests;
  rate_window tokens;

  bool operator==(const rate_report&) const = default;
};

struct capabilities {
  ability tokenize = ability::unknown;       ///< tokenize() gives what the model sees.
  ability slot_pinning = ability::unknown;   ///< hints.slot is honoured; the cache is per slot.
  ability share_prefix = ability::unknown;   ///< share_prefix() copies one slot's cache to others.
  ability tools = ability::unknown;          ///< Declared tools reach the model.
  ability cached_tokens = ability::unknown;  ///< Replies say how many prompt tokens were cached.
  /// loglikelihood() works; `unknown`: check_prompt_logprobs() finds out.
  ability prompt_logprobs = ability::unknown;
};

/// A model as a server lists it.
struct listed_model {
  std::string id;
  std::optional<std::uint64_t> context;  ///< Tokens, where the server tells.
  std::string owned_by = {};             ///< Empty where it does not tell.
};

/// A server's answer as it came, whatever its status; what opens the endpoint is taken out of it.
struct raw_answer {
  int status = 0;
  std::string body;
};

/// Where one request reports. All calls come on the loop; exactly one on_end, after which there are none.
class sink {
 public:
  virtual ~sink() = default;
  virtual void on_first_token(instant now) { static_cast<void>(now); }
  virtual void on_text(std::string_view delta) { static_cast<void>(delta); }
  /// The answer's head says what is left of the server's limits. Before the other calls, if at all.
  virtual void on_rate_report(const rate_report& limits) { static_cast<void>(limits); }
  virtual void on_end(result<chat::reply> outcome) = 0;
};

using ticket = std::uint64_t;
using token = std::int32_t;

/// A model behind an interface: a local server, a paid API, an in-process engine, a script.
/// Lives on the loop: every call is made there, every callback comes there, never before the call returns
/// (only what a backend cannot do at all is answered with `unsupported` during the call). about() and can()
/// may be read from any thread: they do not change. Destroy it on any thread, before its loop; requests that
/// are still open then end in `closed`.
class backend {
 public:
  virtual ~backend() = default;

  [[nodiscard]] virtual const info& about() const = 0;
  [[nodiscard]] virtual capabilities can() const = 0;

  /// Whether start() would refuse the request before anything is sent. Pure; may be called on any thread.
  /// Errors: unsupported or invalid_argument, the same as there.
  [[nodiscard]] virtual result<void> check(const chat::request& request) const;
  /// Sends one request. Failures to send come through the sink.
  virtual ticket start(const chat::request& request, std::shared_ptr<sink> to) = 0;
  /// Suppresses output at once; the sink gets on_end(cancelled) unless it has ended. Idempotent.
  virtual void cancel(ticket which) = 0;

  /// The text that the model will see for this request's prompt, special tokens spelled out. Errors:
  /// unsupported.
  virtual void render(const chat::request& request, std::function<void(result<std::string>)> done);
  /// The tokens that the model will see for this request's prompt. Errors: unsupported.
  virtual void tokenize(const chat::request& request, std::function<void(result<std::vector<token>>)> done);
  /// Copies what slot `from` holds into each of `to`, so that they need not compute it again.
  /// Errors: unsupported.
  virtual void share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                            std::function<void(result<void>)> done);
  /// Whether declared tools change what the model sees: true, false (dropped silently), or an error.
  virtual void check_tools(const std::vector<chat::tool>& tools, std::function<void(result<bool>)> done);

  /// How likely the model finds a continuation. A server may ignore what it is asked and answer all the same,
  /// so nothing is scored before check_prompt_logprobs() was passed, which the first call sees to.
  /// Errors: unsupported with the reason; those of chat::read_loglikelihood().
  virtual void loglikelihood(const chat::loglikelihood_request& request,
                             std::function<void(result<chat::loglikelihood>)> done);
  /// Whether the backend returns the logprobs of all tokens of a prompt: two short requests the first time,
  /// none after that. Errors: unsupported with what it returns instead.
  virtual void check_prompt_logprobs(std::function<void(result<void>)> done);

  /// What the server offers. Errors: unsupported (there is no server), bad_reply.
  virtual void list_models(std::function<void(result<std::vector<listed_model>>)> done);
  /// Sends a chat request for one whole answer with more members in its body, such as `n`, and gives the
  /// answer as it came. Errors: unsupported unless the server is spoken to in OpenAI's chat completions.
  virtual void ask(const chat::request& request, const json::object& more,
                   std::function<void(result<raw_answer>)> done);
};

}  // namespace evalcore::backend
