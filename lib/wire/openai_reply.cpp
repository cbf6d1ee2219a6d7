#include <evalcore/wire/openai_chat.hpp>

#include "wire/call_assembler.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(const char* what) { return fail(errc::bad_reply, stage::decode, what); }

chat::finish_reason finish_from(std::string_view word) {
  if (word == "stop") return chat::finish_reason::stop;
  if (word == "length") return chat::finish_reason::length;
  // mlx_lm has written it in the singular; function_call is OpenAI's older word.
  if (word == "tool_calls" || word == "tool_call" || word == "function_call") {
    return chat::finish_reason::tool_calls;
  }
  if (word == "content_filter") return chat::finish_reason::content_filter;
  return chat::finish_reason::other;
}

template <class T>
void replace_if(std::optional<T>& held, const std::optional<T>& newer) {
  if (newer) held = newer;
}

result<std::vector<chat::tool_call>> whole_calls(const element& message) {
  std::vector<chat::tool_call> calls;
  const auto list = member(message, "tool_calls");
  if (!list) return calls;
  simdjson::dom::array elements;
  if (list->get_array().get(elements) != simdjson::SUCCESS) return bad("tool_calls is not a list");
  for (const element one : elements) {
    const auto function = member(one, "function");
    const std::string_view name = function ? text_member(*function, "name").value_or("") : "";
    if (name.empty()) return bad("a tool call names no function");
    auto arguments = arguments_text(*function);
    if (!arguments) return std::move(arguments).error();
    calls.push_back({.id = std::string(text_member(one, "id").value_or("")),
                     .name = std::string(name),
                     .arguments = *std::move(arguments)});
  }
  return calls;
}

}  // namespace

std::optional<element> first_choice(const element& root) {
  const auto choices = member(root, "choices");
  simdjson::dom::array list;
  if (!choices || choices->get_array().get(list) != simdjson::SUCCESS) return std::nullopt;
  for (const element choice : list) {
    if (choice.is_object() && count_member(choice, "index").value_or(0) == 0) return choice;
  }
  return std::nullopt;
}

std::optional<std::string_view> content_text(const element& message) {
  const auto content = member(message, "content");
  if (!content) return "";
  return text_of(*content);
}

std::string_view reasoning_text(const element& message) {
  const auto [named_in_full, reasoning] = members(message, {"reasoning_content", "reasoning"});
  if (const auto text = text_of(named_in_full)) return *text;
  return text_of(reasoning).value_or("");
}

std::optional<error> read_finish(const element& choice, chat::reply& into) {
  const std::string_view word = text_member(choice, "finish_reason").value_or("");
  if (broke_off(word)) {
    return fail(errc::backend_fault, stage::body,
                "the backend broke the answer off (finish reason \"" + std::string(word) + "\")");
  }
  if (into.finish_raw.empty()) {
    into.finish_raw = word;
    into.finish = finish_from(word);
  }
  return std::nullopt;
}

void read_usage(const element& root, chat::usage& into) {
  const auto usage = member(root, "usage");
  if (!usage) return;
  const auto [prompt, completion, prompt_details, cached_beside, cache_hit, completion_details,
              reasoning_beside] =
      members(*usage, {"prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens",
                       "prompt_cache_hit_tokens", "completion_tokens_details", "reasoning_tokens"});
  replace_if(into.prompt_tokens, count_of(prompt));
  replace_if(into.completion_tokens, count_of(completion));
  // The first place is OpenAI's; the others are an older oMLX's and DeepSeek's.
  std::optional<std::uint64_t> cached;
  if (prompt_details) {
    cached = count_member(*prompt_details, "cached_tokens");
    replace_if(into.cache_write_tokens, count_member(*prompt_details, "cache_write_tokens"));
  }
  if (!cached) cached = count_of(cached_beside);
  if (!cached) cached = count_of(cache_hit);
  replace_if(into.cached_tokens, cached);
  // SGLang counts the reasoning at the top.
  std::optional<std::uint64_t> reasoning;
  if (completion_details) reasoning = count_member(*completion_details, "reasoning_tokens");
  if (!reasoning) reasoning = count_of(reasoning_beside);
  replace_if(into.reasoning_tokens, reasoning);
}

namespace {

/// What is wrong with the answer, if anything is.
std::optional<error> read_whole(std::string_view body, const dialect& ways, chat::reply& into) {
  json_reader reader;
  const auto root = reader.read(body);
  if (!root) {
    return bad(body.find_first_not_of(" \t\r\n") == std::string_view::npos ? "the answer is empty"
                                                                           : "the answer is not JSON");
  }
  if (auto failure = error_inside(*root)) return failure;
  const auto choice = first_choice(*root);
  if (auto failure = choice ? error_inside(*choice) : std::nullopt) return failure;
  const auto message = choice ? member(*choice, "message") : std::nullopt;
  if (!message) return bad("the answer has no choice with a message");
  const auto content = content_text(*message);
  if (!content) return bad("the content of the answer is not text");

  into.text = std::string(*content);
  into.reasoning = reasoning_text(*message);
  if (auto failure = read_finish(*choice, into)) return failure;
  auto calls = whole_calls(*message);
  if (!calls) return std::move(calls).error();
  into.calls = *std::move(calls);
  read_logprobs(*choice, into.logprobs);
  read_stop_string(*choice, into);
  read_refusal(*message, into);
  into.model = text_member(*root, "model").value_or("");
  read_usage(*root, into.usage);
  into.damage = reader.damage();
  split_reasoning(ways, into);
  return std::nullopt;
}

}  // namespace

result<chat::reply> decode_openai_chat(std::string_view body, const dialect& ways) {
  // Filled in its place: a reply is too large to be moved about.
  result<chat::reply> whole{chat::reply()};
  if (auto failure = read_whole(body, ways, *whole)) whole = *std::move(failure);
  return whole;
}

}  // namespace evalcore::wire
