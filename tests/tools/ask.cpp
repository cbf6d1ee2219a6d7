// Asks servers, one request a line of JSON on stdin, and prints what became of each, one line of JSON on
// stdout, so that another client can be asked the same.
//   in:  {"api": "chat", "responses", "messages" or "completions", "url", "dialect", "stream": true or false,
//         "messages", "tools", "params" as in a suite, "tool_choice", "parallel_tool_calls", "thinking":
//         {"enabled", "budget_tokens"}, "logprobs"; for completions "prompts": ["…"] in place of messages and
//         tools}
//   out: {"text", "reasoning", "calls": [{"id", "name", "arguments"}], "finish", "finish_raw", "stop_string",
//         "usage": {…}, "logprobs": [["token", logprob]], "dropped", "damage"}, for completions
//        {"completions": [{"text", "finish", "finish_raw", "logprobs"}], "usage", "dropped", "damage"},
//        or {"error", "status", "words", "message"}
#include <chrono>
#include <cstdio>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>

#include "run/suite_chat.hpp"
#include "run/suite_params.hpp"

using namespace evalcore;

namespace {

std::string text_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string() : *text;
}

std::optional<bool> flag_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  const auto* flag = found == nullptr ? nullptr : found->if_bool();
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<std::uint32_t> count_of(const json::value& from, std::string_view key) {
  const auto* found = from.find(key);
  const auto* count = found == nullptr ? nullptr : found->if_int();
  return count == nullptr ? std::nullopt : std::optional(static_cast<std::uint32_t>(*count));
}

result<chat::parameters> params_of(const json::value& line) {
  const auto* given = line.find("params");
  chat::request asked;
  if (given != nullptr) {
    if (auto read = run::read_params(*given, asked); !read) return std::move(read).error();
  }
  asked.params.logprobs = flag_of(line, "logprobs").value_or(asked.params.logprobs);
  return std::move(asked.params);
}

chat::tool_choice choice_of(const std::string& word) {
  using kind = chat::tool_choice::kind;
  if (word == "auto") return {kind::automatic};
  if (word == "none") return {kind::none};
  if (word == "required") return {kind::required};
  return {kind::named, word};
}

result<chat::request> chat_request(const json::value& line) {
  chat::request asked;
  if (const auto* turns = line.find("messages")) {
    auto read = run::read_messages(*turns, "messages");
    if (!read) return std::move(read).error();
    asked.messages = *std::move(read);
  }
  if (const auto* tools = line.find("tools")) {
    auto read = run::read_tools(*tools, "tools");
    if (!read) return std::move(read).error();
    asked.tools = *std::move(read);
  }
  auto params = params_of(line);
  if (!params) return std::move(params).error();
  asked.params = *std::move(params);
  if (const auto choice = text_of(line, "tool_choice"); !choice.empty())
    asked.tool_choice = choice_of(choice);
  asked.parallel_tool_calls = flag_of(line, "parallel_tool_calls");
  if (const auto* thinking = line.find("thinking")) {
    asked.thinking.enabled = flag_of(*thinking, "enabled");
    asked.thinking.budget_tokens = count_of(*thinking, "budget_tokens");
  }
  return asked;
}

result<chat::completion_request> completion_request(const json::value& line) {
  chat::completion_request asked;
  const auto* prompts = line.find("prompts");
  if (prompts != nullptr && prompts->if_array() != nullptr) {
    for (const auto& one : *prompts->if_array()) asked.prompts.emplace_back(*one.if_string());
  }
  auto params = params_of(line);
  if (!params) return std::move(params).error();
  asked.params = *std::move(params);
  return asked;
}

class chat_end final : public backend::sink {
 public:
  void on_end(result<chat::reply> outcome) override { outcome_.set_value(std::move(outcome)); }
  result<chat::reply> wait() { return outcome_.get_future().get(); }

 private:
  std::promise<result<chat::reply>> outcome_;
};

result<chat::reply> ask_chat(net::loop& loop, const json::value& line, const backend::http_options& how) {
  const auto asked = chat_request(line);
  if (!asked) return asked.error();
  auto server = text_of(line, "api") == "messages" ? backend::connect_anthropic_url(loop, how)
                                                   : backend::connect_openai_url(loop, how);
  if (!server) return std::move(server).error();
  const auto end = std::make_shared<chat_end>();
  loop.run_and_wait([&] { (*server)->start(*asked, end); });
  return end->wait();
}

struct http_answer {
  net::http_head head;
  std::string body;
};

class http_end final : public net::http_sink {
 public:
  void on_head(const net::http_head& head) override { answer_.head = head; }
  void on_body(std::string_view piece, instant) override { answer_.body += piece; }
  void on_end(result<void> outcome) override {
    if (outcome) {
      all_.set_value(std::move(answer_));
    } else {
      all_.set_value(std::move(outcome).error());
    }
  }
  result<http_answer> wait() { return all_.get_future().get(); }

 private:
  http_answer answer_;
  std::promise<result<http_answer>> all_;
};

result<http_answer> post(net::loop& loop, const backend::http_options& how, std::string path,
                         std::string body) {
  auto origin = net::parse_url(how.base_url);
  if (!origin) return std::move(origin).error();
  net::http_request request;
  request.method = "POST";
  request.target = std::move(path);
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  request.deadlines = how.deadlines;
  std::unique_ptr<net::http_client> client;
  const auto end = std::make_shared<http_end>();
  loop.run_and_wait([&] {
    client = std::make_unique<net::http_client>(loop, *origin, net::http_limits{});
    client->start(request, end);
  });
  auto answer = end->wait();
  loop.run_and_wait([&] { client.reset(); });
  return answer;
}

/// No backend speaks completions: the codec over the HTTP client.
result<chat::completion_reply> ask_completion(net::loop& loop, const json::value& line,
                                              const backend::http_options& how) {
  constexpr int ok = 200;
  const auto asked = completion_request(line);
  if (!asked) return asked.error();
  auto encoded = wire::encode_openai_completion(*asked, *how.ways, how.stream);
  if (!encoded) return std::move(encoded).error();
  auto answer = post(loop, how, "/v1/completions", std::move(encoded->body));
  if (!answer) return std::move(answer).error();
  const auto& [head, body] = *answer;
  const std::size_t prompts = asked->prompts.size();
  if (head.status != ok) return wire::classify_openai_error(head.status, body, *how.ways);
  auto reply = [&]() -> result<chat::completion_reply> {
    if (!how.stream) return wire::decode_openai_completion(body, *how.ways, prompts);
    wire::openai_completion_stream stream(*how.ways, prompts);
    if (auto fed = stream.feed(body); !fed) return std::move(fed).error();
    return stream.take();
  }();
  if (reply) reply->dropped = std::move(encoded->dropped);
  return reply;
}

json::value count(const std::optional<std::uint64_t>& number) {
  return number ? json::value(*number) : json::value();
}

json::value shown(const chat::usage& usage) {
  return json::object{{"prompt", count(usage.prompt_tokens)},
                      {"cached", count(usage.cached_tokens)},
                      {"completion", count(usage.completion_tokens)},
                      {"reasoning", count(usage.reasoning_tokens)}};
}

json::value shown(const std::vector<std::string>& words) { return json::array(words.begin(), words.end()); }

template <class Token>
json::value shown(const std::vector<Token>& tokens) {
  json::array all;
  for (const auto& one : tokens) {
    all.emplace_back(json::array{one.token, one.logprob ? json::value(*one.logprob) : json::value()});
  }
  return all;
}

json::value shown(const chat::json_damage& found) {
  json::array words;
  if (found.duplicate_key) words.emplace_back("duplicate_key");
  if (found.invalid_utf8) words.emplace_back("invalid_utf8");
  if (found.lone_surrogate) words.emplace_back("lone_surrogate");
  return words;
}

json::value shown(const error& failure) {
  return json::object{{"error", name(failure.code)},
                      {"status", failure.http_status ? json::value(*failure.http_status) : json::value()},
                      {"words", failure.backend_words},
                      {"message", failure.message}};
}

json::value shown(const chat::reply& reply) {
  json::array calls;
  for (const auto& one : reply.calls) {
    calls.emplace_back(json::object{{"id", one.id}, {"name", one.name}, {"arguments", one.arguments}});
  }
  return json::object{{"text", reply.text},
                      {"reasoning", reply.reasoning},
                      {"calls", std::move(calls)},
                      {"finish", chat::name(reply.finish)},
                      {"finish_raw", reply.finish_raw},
                      {"stop_string", reply.stop_string},
                      {"usage", shown(reply.usage)},
                      {"logprobs", shown(reply.logprobs)},
                      {"dropped", shown(reply.dropped)},
                      {"damage", shown(reply.damage)}};
}

json::value shown(const chat::completion_reply& reply) {
  json::array all;
  for (const auto& one : reply.completions) {
    all.emplace_back(json::object{{"text", one.text},
                                  {"finish", chat::name(one.finish)},
                                  {"finish_raw", one.finish_raw},
                                  {"logprobs", shown(one.tokens)}});
  }
  return json::object{
      {"completions", std::move(all)}, {"usage", shown(reply.usage)}, {"dropped", shown(reply.dropped)}};
}

template <class Reply>
json::value outcome(const result<Reply>& got) {
  return got ? shown(*got) : shown(got.error());
}

}  // namespace

int main() {
  constexpr std::chrono::seconds longest{60};
  net::loop loop;
  std::string text;
  while (std::getline(std::cin, text)) {
    const auto line = json::parse(text);
    const auto* ways = line ? wire::find_dialect(text_of(*line, "dialect")) : nullptr;
    if (ways == nullptr) {
      std::fprintf(stderr, "ask: a line is no JSON object that names a dialect\n");
      return 2;
    }
    backend::http_options how;
    how.base_url = text_of(*line, "url");
    how.model = text_of(*line, "model");
    how.ways = ways;
    how.stream = flag_of(*line, "stream").value_or(false);
    if (text_of(*line, "api") == "responses") how.api = backend::openai_api::responses;
    how.deadlines.attempt = longest;
    if (const auto idle = count_of(*line, "idle_ms")) how.deadlines.idle = std::chrono::milliseconds(*idle);
    const bool completions = text_of(*line, "api") == "completions";
    const auto told =
        completions ? outcome(ask_completion(loop, *line, how)) : outcome(ask_chat(loop, *line, how));
    std::printf("%s\n", json::to_text(told).c_str());
    std::fflush(stdout);
  }
  return 0;
}
