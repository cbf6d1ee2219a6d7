#include "backend/plain_completion.hpp"

#include <string>
#include <utility>

namespace evalcore::backend {
namespace {

error only_in_a_chat(const char* what) {
  return fail(
      errc::unsupported, stage::send,
      std::string("a text completion has no place for ") + what + ": ask a chat API, or leave it out");
}

}  // namespace

result<void> check_completion(const chat::request& request) {
  if (request.messages.size() != 1 || request.messages.front().who != chat::role::user) {
    return fail(errc::invalid_argument, stage::send, "a text completion is of one user turn: ask a chat API");
  }
  const auto& turn = request.messages.front();
  const auto& thinking = request.thinking;
  if (!turn.image_urls.empty()) return only_in_a_chat("images");
  if (!request.tools.empty()) return only_in_a_chat("tools");
  if (thinking.enabled || thinking.budget_tokens || !thinking.effort.empty()) {
    return only_in_a_chat("control of reasoning");
  }
  return {};
}

result<chat::completion_request> completion_of(const chat::request& request) {
  if (auto fit = check_completion(request); !fit) return std::move(fit).error();
  chat::completion_request made;
  made.model = request.model;
  made.prompts.emplace_back(request.messages.front().text);
  made.params = request.params;
  made.hints = request.hints;
  return made;
}

chat::reply reply_of(chat::completion_reply&& whole) {
  auto& only = whole.completions.front();
  chat::reply made;
  made.text = std::move(only.text);
  made.finish = only.finish;
  made.finish_raw = std::move(only.finish_raw);
  made.model = std::move(whole.model);
  made.usage = whole.usage;
  made.damage = whole.damage;
  for (auto& token : only.tokens) made.logprobs.push_back(std::move(token));
  return made;
}

}  // namespace evalcore::backend
