#include <algorithm>

#include <evalcore/wire/openai_completions.hpp>

#include "wire/openai_completions_parts.hpp"
#include "wire/openai_parts.hpp"

namespace evalcore::wire {
namespace {

error bad(std::string what) { return fail(errc::bad_reply, stage::decode, std::move(what)); }

/// The text with each bare -Infinity replaced by the floor; nullopt when there is none.
std::optional<std::string> without_infinity(std::string_view text) {
  constexpr std::string_view word = "-Infinity";
  if (text.find(word) == std::string_view::npos) return std::nullopt;
  std::string out;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!quoted && text.substr(at).starts_with(word)) {
      out += std::to_string(chat::logprob_floor);
      at += word.size() - 1;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    out += text[at];
    if (quoted && text[at] == '\\' && at + 1 < text.size()) out += text[++at];
  }
  return out;
}

/// Nullopt inside for null; nullopt outside for what is no logprob.
std::optional<std::optional<double>> logprob_of(const element& from) {
  if (from.is_null()) return std::optional<double>{};
  double number = 0;
  if (from.is_number() && from.get_double().get(number) == simdjson::SUCCESS) {
    return std::max(number, chat::logprob_floor);
  }
  const auto text = text_of(from);
  if (text && (*text == "-inf" || *text == "-Infinity")) return chat::logprob_floor;
  return std::nullopt;
}

/// The logprob of the next token: null is "nothing before it" for the first of all and the floor later.
result<std::optional<double>> next_logprob(const element& from, bool first) {
  const auto read = logprob_of(from);
  if (!read) return bad("a logprob is not a number");
  if (!*read && !first) return std::optional(chat::logprob_floor);
  return *read;
}

/// What is no logprob is left out.
void add_top(std::vector<chat::token_choice>& into, std::string_view token, const element& logprob) {
  const auto read = logprob_of(logprob);
  if (!read) return;
  chat::token_choice one;
  one.token = token;
  one.logprob = read->value_or(chat::logprob_floor);
  into.push_back(std::move(one));
}

/// The elements of a list, null for an absent one.
std::vector<element> list_of(const element& from, std::string_view key) {
  const auto found = member(from, key);
  simdjson::dom::array list;
  if (!found || found->get_array().get(list) != simdjson::SUCCESS) return {};
  return {list.begin(), list.end()};
}

/// Lists side by side. Some servers leave all but token_logprobs empty.
result<void> read_columns(const element& logprobs, std::vector<chat::completion_token>& into) {
  const auto tokens = list_of(logprobs, "tokens");
  const auto values = list_of(logprobs, "token_logprobs");
  const auto offsets = list_of(logprobs, "text_offset");
  const auto tops = list_of(logprobs, "top_logprobs");
  for (const auto* column : {&tokens, &offsets, &tops}) {
    if (!column->empty() && column->size() != values.size()) {
      return bad("the lists of logprobs differ in length");
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    chat::completion_token one;
    if (!tokens.empty()) one.token = text_of(tokens[i]).value_or("");
    auto logprob = next_logprob(values[i], into.empty());
    if (!logprob) return std::move(logprob).error();
    one.logprob = *logprob;
    std::uint64_t offset = 0;
    if (!offsets.empty() && offsets[i].get_uint64().get(offset) == simdjson::SUCCESS) {
      one.text_offset = offset;
    }
    simdjson::dom::object top;
    if (!tops.empty() && tops[i].get_object().get(top) == simdjson::SUCCESS) {
      for (const auto& [token, value] : top) add_top(one.top, token, value);
    }
    into.push_back(std::move(one));
  }
  return {};
}

/// The shape of chat: an entry a token.
result<void> read_entries(const element& logprobs, std::vector<chat::completion_token>& into) {
  for (const element& entry : list_of(logprobs, "content")) {
    const auto value = member_or_null(entry, "logprob");
    if (!value) return bad("a token has no logprob");
    chat::completion_token one;
    one.token = text_member(entry, "token").value_or("");
    auto logprob = next_logprob(*value, into.empty());
    if (!logprob) return std::move(logprob).error();
    one.logprob = *logprob;
    for (const element& top : list_of(entry, "top_logprobs")) {
      const auto other = member_or_null(top, "logprob");
      if (other) add_top(one.top, text_member(top, "token").value_or(""), *other);
    }
    into.push_back(std::move(one));
  }
  return {};
}

}  // namespace

std::optional<element> completion_reader::read(std::string_view text) {
  if (auto root = reader_.read(text)) return root;
  const auto mended = without_infinity(text);
  return mended ? reader_.read(*mended) : std::nullopt;
}

result<bool> read_completion(const element& choice, chat::completion& into) {
  const auto text = member(choice, "text");
  const auto words = text ? text_of(*text) : std::string_view{};
  if (!words) return bad("the text of a completion is not text");
  into.text += *words;
  if (const auto logprobs = member(choice, "logprobs")) {
    auto taken = member(*logprobs, "token_logprobs") ? read_columns(*logprobs, into.tokens)
                                                     : read_entries(*logprobs, into.tokens);
    if (!taken) return std::move(taken).error();
  }
  chat::reply held;
  held.finish = into.finish;
  held.finish_raw = into.finish_raw;
  if (auto broken_off = read_finish(choice, held)) return *std::move(broken_off);
  into.finish = held.finish;
  into.finish_raw = held.finish_raw;
  return !words->empty();
}

result<void> check_complete(const std::vector<bool>& answered) {
  const auto missing = std::ranges::find(answered, false);
  if (missing == answered.end()) return {};
  return bad("the answer lacks a completion for prompt " + std::to_string(missing - answered.begin()) +
             " of " + std::to_string(answered.size()));
}

result<chat::completion_reply> decode_openai_completion(std::string_view body, const dialect& ways,
                                                        std::size_t prompts) {
  completion_reader reader;
  const auto root = reader.read(body);
  if (!root) {
    return bad(body.find_first_not_of(" \t\r\n") == std::string_view::npos ? "the answer is empty"
                                                                           : "the answer is not JSON");
  }
  if (auto failure = error_inside(*root)) return *std::move(failure);

  chat::completion_reply reply;
  reply.completions.resize(prompts);
  std::vector<bool> answered(prompts);
  for (const element& choice : list_of(*root, "choices")) {
    const auto index = count_member(choice, "index").value_or(0);
    if (index >= prompts || answered[index])
      return bad("the answer has a completion that no prompt asked for");
    if (!member(choice, "text")) return bad("a completion has no text");
    answered[index] = true;
    if (auto taken = read_completion(choice, reply.completions[index]); !taken) {
      return std::move(taken).error();
    }
  }
  if (auto complete = check_complete(answered); !complete) return std::move(complete).error();
  reply.model = text_member(*root, "model").value_or("");
  if (prompts == 1 || !ways.usage_of_one) read_usage(*root, reply.usage);
  reply.damage = reader.damage();
  return reply;
}

}  // namespace evalcore::wire
