#include <evalcore/chat/think_text.hpp>

#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

std::optional<double> number_member(const element& from, std::string_view key) {
  const auto found = member(from, key);
  double number = 0;
  if (!found || found->get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<simdjson::dom::array> list_member(const element& from, std::string_view key) {
  const auto found = member(from, key);
  simdjson::dom::array list;
  if (!found || found->get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
  return list;
}

void read_token(const element& entry, chat::token_choice& into) {
  into.token = text_member(entry, "token").value_or("");
  into.logprob = number_member(entry, "logprob");
  const auto list = list_member(entry, "bytes");
  if (!list) return;
  std::string bytes;
  for (const element one : *list) {
    std::uint64_t byte = 0;
    if (one.get_uint64().get(byte) != simdjson::SUCCESS || byte > 0xFF) return;
    bytes += static_cast<char>(byte);
  }
  into.bytes = std::move(bytes);
}

}  // namespace

void read_token_list(const element& from, std::string_view key, std::vector<chat::token_logprob>& into) {
  const auto entries = list_member(from, key);
  if (!entries) return;
  for (const element entry : *entries) {
    auto& token = into.emplace_back();
    read_token(entry, token);
    const auto top = list_member(entry, "top_logprobs");
    if (!top) continue;
    for (const element one : *top) read_token(one, token.top.emplace_back());
  }
}

void read_logprobs(const element& choice, std::vector<chat::token_logprob>& into) {
  if (const auto held = member(choice, "logprobs")) read_token_list(*held, "content", into);
}

void read_stop_string(const element& choice, chat::reply& into) {
  // vLLM's and SGLang's names; a stop token is a number there.
  for (const auto& said : members(choice, {"stop_reason", "matched_stop"})) {
    if (const auto text = text_of(said)) into.stop_string = *text;
  }
}

void read_refusal(const element& message, chat::reply& into) {
  into.refusal += text_member(message, "refusal").value_or("");
}

void split_reasoning(const dialect& ways, chat::reply& whole) {
  if (!ways.think_text_in_content || !whole.reasoning.empty()) return;
  auto split = chat::split_think_text(whole.text);
  whole.reasoning = std::move(split.reasoning);
  whole.text = std::move(split.text);
}

}  // namespace evalcore::wire
