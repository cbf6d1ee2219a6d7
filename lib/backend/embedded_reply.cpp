#include "backend/embedded_reply.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <evalcore/base/utf8.hpp>
#include <evalcore/chat/think_text.hpp>

namespace evalcore::backend {
namespace {

constexpr std::size_t longest_character = 4;

chat::token_choice choice(engine::token id, float logprob) {
  return {.token = "token_id:" + std::to_string(id), .bytes = {}, .logprob = logprob};
}

/// Bytes at the end that may become a character.
std::size_t unfinished(std::string_view text) {
  const std::size_t most = std::min(longest_character - 1, text.size());
  for (std::size_t count = most; count > 0; --count) {
    const auto rest = text.substr(text.size() - count);
    const bool begins = (static_cast<unsigned char>(rest.front()) & 0xC0U) == 0xC0U;
    const auto step = first_utf8(rest);
    if (begins && !step.valid && step.bytes == rest.size()) return count;
  }
  return 0;
}

}  // namespace

std::string embedded_reply::add(const engine::piece& one) {
  begun_ = true;
  text_ += one.text;
  if (one.logprob) {
    chat::token_logprob token;
    static_cast<chat::token_choice&>(token) = choice(one.id, *one.logprob);
    for (const auto& other : one.top) token.top.push_back(choice(other.id, other.logprob));
    logprobs_.push_back(std::move(token));
  }
  const auto whole = std::string_view(text_).substr(told_);
  const auto ready = whole.substr(0, whole.size() - unfinished(whole));
  told_ += ready.size();
  return replace_invalid_utf8(ready);
}

chat::reply embedded_reply::finish(const engine::answer& whole, const std::string& model, duration took) {
  chat::reply reply;
  text_ += whole.tail;
  // Where a bound on tokens cut a character, its front is no part of the answer.
  text_.resize(text_.size() - unfinished(text_));
  const auto valid = replace_invalid_utf8(text_);
  reply.damage.invalid_utf8 = valid != text_;
  auto split = chat::split_think_text(valid);
  reply.text = std::move(split.text);
  reply.reasoning = std::move(split.reasoning);
  reply.finish = whole.finish;
  reply.finish_raw = chat::name(whole.finish);
  reply.stop_string = whole.stop_string;
  reply.model = model;
  reply.usage.prompt_tokens = whole.prompt_tokens;
  reply.usage.cached_tokens = whole.cached_tokens;
  reply.usage.completion_tokens = whole.generation_tokens;
  reply.timing = {.first_token = whole.how.ttft, .total = took};
  reply.logprobs = std::move(logprobs_);
  reply.metadata = engine::metadata(whole);
  return reply;
}

}  // namespace evalcore::backend
