#include "backend/embedded_request.hpp"

#include <string>
#include <utility>

#include <evalcore/chat/context_end.hpp>

namespace evalcore::backend {
namespace {

error lacks(const std::string& what, const std::string& mend) {
  return fail(errc::unsupported, stage::send, "the embedded engine has no " + what + "; " + mend);
}

}  // namespace

result<void> check_for_engine(const chat::request& request) {
  if (request.params.n.value_or(1) != 1) {
    return fail(errc::unsupported, stage::send,
                "a reply holds one answer: for n answers send the request n times");
  }
  if (!request.choices.empty() && request.messages.size() != 1) {
    return fail(errc::invalid_argument, stage::send,
                "choices follow the text of one turn: send them with one message");
  }
  if (request.params.format)
    return lacks("response_format", "leave it out, or run the model behind a server");
  const auto& thinking = request.thinking;
  if (thinking.enabled || thinking.budget_tokens || !thinking.effort.empty()) {
    return lacks("control of reasoning", "leave it out, or run the model behind a server");
  }
  using kind = chat::tool_choice::kind;
  if (request.tool_choice && request.tool_choice->how != kind::automatic &&
      request.tool_choice->how != kind::none) {
    return lacks("tool_choice that enforces a call", "leave it out, or run the model behind a server");
  }
  for (const auto& turn : request.messages) {
    if (!turn.image_urls.empty()) return lacks("images", "ask a server that takes them");
  }
  return {};
}

std::optional<engine::prefix_sharing> sharing_of(const chat::cache_hints& hints) {
  if (!hints.use_cache.value_or(true)) return std::nullopt;
  engine::prefix_sharing share;
  share.key = hints.prompt_cache_key.empty() ? "shared" : hints.prompt_cache_key;
  if (!hints.cache_salt.empty()) share.scope = hints.cache_salt;
  share.cuts = hints.shared_tokens;
  return share;
}

std::string_view context_of(const chat::request& request) {
  const std::string_view text = request.messages.front().text;
  return text.substr(0, chat::size_without_end_blanks(text));
}

engine::request for_engine(const chat::request& request) {
  const auto& params = request.params;
  engine::request made;
  made.prompt = request;
  made.max_tokens = params.max_tokens;
  made.how.temperature = params.temperature.value_or(0);
  made.how.top_p = params.top_p.value_or(1);
  made.how.top_k = params.top_k.value_or(0);
  if (params.seed) made.how.seed = static_cast<std::uint64_t>(*params.seed);
  made.stop = params.stop;
  made.logprobs = params.logprobs || params.top_logprobs;
  made.top_logprobs = params.top_logprobs.value_or(0);
  made.share = sharing_of(request.hints);
  return made;
}

}  // namespace evalcore::backend
