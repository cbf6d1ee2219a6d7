#include "backend/script.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <evalcore/base/json.hpp>

namespace evalcore::backend {
namespace {

// Far enough for any test, near enough for the arithmetic of deadlines.
constexpr std::int64_t longest_delay_ms = 86'400'000;

/// What is wrong with a line, without the place where it stands.
error wrong(std::string what) { return fail(errc::invalid_argument, stage::start, std::move(what)); }

std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }

result<std::string> read_text(std::string_view key, const json::value& value) {
  if (const auto* text = value.if_string()) return *text;
  return wrong(quoted(key) + " must be a string");
}

result<std::int64_t> read_count(std::string_view key, const json::value& value, std::int64_t most) {
  const auto* number = value.if_int();
  if (number != nullptr && *number >= 0 && *number <= most) return *number;
  return wrong(quoted(key) + " must be a whole number from 0 to " + std::to_string(most));
}

result<chat::finish_reason> read_finish(std::string_view word) {
  if (word == "stop") return chat::finish_reason::stop;
  if (word == "length") return chat::finish_reason::length;
  if (word == "tool_calls") return chat::finish_reason::tool_calls;
  if (word == "content_filter") return chat::finish_reason::content_filter;
  return wrong("\"finish\" must be stop, length, tool_calls or content_filter");
}

result<errc> read_code(std::string_view word) {
  for (std::int32_t number = 1; number < 100; ++number) {
    const auto code = static_cast<errc>(number);
    if (name(code) == word && word != "unknown") return code;
  }
  return wrong("there is no error code " + quoted(word));
}

result<void> read_fault(const json::value& value, std::optional<error>& into) {
  const auto* code = value.find("code");
  if (code == nullptr || code->if_string() == nullptr)
    return wrong("\"error\" must be an object with a \"code\"");
  const auto known = read_code(*code->if_string());
  if (!known) return known.error();
  const auto* message = value.find("message");
  std::string words = "the script says so";
  if (message != nullptr) {
    auto text = read_text("message", *message);
    if (!text) return text.error();
    words = *std::move(text);
  }
  into = fail(*known, stage::body, std::move(words));
  return {};
}

result<chat::tool_call> read_call(const json::value& value, std::size_t index) {
  const auto* name = value.find("name");
  if (name == nullptr || name->if_string() == nullptr) return wrong("each of \"calls\" must have a \"name\"");
  chat::tool_call call{.id = "call_" + std::to_string(index), .name = *name->if_string(), .arguments = "{}"};
  if (const auto* id = value.find("id")) {
    auto text = read_text("id", *id);
    if (!text) return text.error();
    call.id = *std::move(text);
  }
  if (const auto* arguments = value.find("arguments")) {
    call.arguments = arguments->if_string() != nullptr ? *arguments->if_string() : json::to_text(*arguments);
  }
  return call;
}

result<void> read_calls(const json::value& value, chat::reply& into) {
  const auto* list = value.if_array();
  if (list == nullptr) return wrong("\"calls\" must be an array");
  for (const auto& one : *list) {
    auto call = read_call(one, into.calls.size());
    if (!call) return call.error();
    into.calls.push_back(*std::move(call));
  }
  return {};
}

result<void> read_usage(const json::value& value, chat::usage& into) {
  const auto* members = value.if_object();
  if (members == nullptr) return wrong("\"usage\" must be an object");
  const std::pair<std::string_view, std::optional<std::uint64_t>*> known[] = {
      {"prompt_tokens", &into.prompt_tokens},           {"cached_tokens", &into.cached_tokens},
      {"completion_tokens", &into.completion_tokens},   {"reasoning_tokens", &into.reasoning_tokens},
      {"cache_write_tokens", &into.cache_write_tokens},
  };
  for (const auto& [key, number] : *members) {
    const auto* place =
        std::ranges::find(known, std::string_view(key), [](const auto& one) { return one.first; });
    if (place == std::end(known)) return wrong("\"usage\" has an unknown member " + quoted(key));
    const auto count = read_count(key, number, INT64_MAX);
    if (!count) return count.error();
    *place->second = static_cast<std::uint64_t>(*count);
  }
  return {};
}

result<void> read_member(const std::string& key, const json::value& value, script_line& into) {
  if (key == "match" || key == "text" || key == "finish") {
    auto text = read_text(key, value);
    if (!text) return text.error();
    if (key == "match") {
      into.match = *std::move(text);
    } else if (key == "text") {
      into.reply.text = *std::move(text);
    } else {
      const auto why = read_finish(*text);
      if (!why) return why.error();
      into.reply.finish = *why;
      into.reply.finish_raw = *std::move(text);
    }
    return {};
  }
  if (key == "delay_ms" || key == "first_token_ms") {
    const auto span = read_count(key, value, longest_delay_ms);
    if (!span) return span.error();
    if (key == "delay_ms") {
      into.delay = std::chrono::milliseconds(*span);
    } else {
      into.first_token = std::chrono::milliseconds(*span);
    }
    return {};
  }
  if (key == "calls") return read_calls(value, into.reply);
  if (key == "usage") return read_usage(value, into.reply.usage);
  if (key == "error") return read_fault(value, into.fault);
  return wrong("unknown member " + quoted(key));
}

result<script_line> read_line(std::string_view text) {
  const auto value = json::parse(text);
  if (!value) return wrong("not JSON: " + value.error().message);
  const auto* members = value->if_object();
  if (members == nullptr) return wrong("not a JSON object");
  script_line line;
  for (const auto& [key, one] : *members) {
    if (auto read = read_member(key, one, line); !read) return read.error();
  }
  if (line.reply.finish_raw.empty()) {
    const bool calls = !line.reply.calls.empty();
    line.reply.finish = calls ? chat::finish_reason::tool_calls : chat::finish_reason::stop;
    line.reply.finish_raw = calls ? "tool_calls" : "stop";
  }
  if (line.first_token && *line.first_token > line.delay) line.delay = *line.first_token;
  return line;
}

std::string_view last_user_text(const chat::request& request) {
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    if (message->who == chat::role::user) return message->text;
  }
  return {};
}

}  // namespace

result<script> script::parse(std::string_view text, const std::string& name) {
  script made;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto read = read_line(line);
    if (!read) return wrong(name + ":" + std::to_string(number) + ": " + read.error().message);
    if (read->match) {
      made.matching_.push_back({.line = *std::move(read)});
    } else {
      made.others_.push_back(*std::move(read));
    }
  }
  if (made.matching_.empty() && made.others_.empty())
    return wrong(name + " holds no reply; write one JSON object a line");
  return made;
}

const script_line* script::take(const chat::request& request) {
  const auto text = last_user_text(request);
  entry* chosen = nullptr;
  for (auto& one : matching_) {
    if (text.find(*one.line.match) == std::string_view::npos) continue;
    chosen = &one;
    if (!one.used) break;
  }
  if (chosen != nullptr) {
    chosen->used = true;
    return &chosen->line;
  }
  if (others_.empty()) return nullptr;
  return &others_[std::min(others_used_++, others_.size() - 1)];
}

}  // namespace evalcore::backend
