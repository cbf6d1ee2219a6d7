#include <doctest/doctest.h>

#include <string>

#include <evalcore/backend/chat_call.hpp>

using namespace evalcore;
using backend::curl_command;

namespace {

using identity = std::map<std::string, std::string>;

chat::request hello() {
  chat::request out;
  out.messages.push_back({.who = chat::role::user, .text = "hi"});
  out.params.max_tokens = 8;
  return out;
}

result<backend::chat_call> call_of(const identity& who, const chat::request& request = hello(),
                                   bool stream = false) {
  return backend::chat_call_of(who, request, stream, wire::anthropic_version::v2023_06_01);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const identity chat_server{{"selector", "openai-url"}, {"dialect", "generic"}, {"model", "m"}};
const identity anthropic{{"selector", "anthropic-url"}, {"dialect", "anthropic"}, {"model", "m"}};

}  // namespace

TEST_CASE("a request goes where the backend's API has it") {
  CHECK(call_of(chat_server)->path == "/v1/chat/completions");
  CHECK(call_of(anthropic)->path == "/v1/messages");
  auto who = chat_server;
  who["api"] = "responses";
  CHECK(call_of(who)->path == "/v1/responses");
  who["api"] = "completions";
  CHECK(call_of(who)->path == "/v1/completions");
  CHECK(call_of(identity{{"selector", "scripted"}}).error().code == errc::unsupported);
  auto choices = hello();
  choices.choices = {" a", " b"};
  CHECK_FALSE(call_of(chat_server, choices));
}

TEST_CASE("a request that names no model names the backend's") {
  CHECK(call_of(chat_server)->body ==
        R"({"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":8,"stream":false})");
  auto named = hello();
  named.model = "other";
  CHECK(has(call_of(chat_server, named)->body, R"("model":"other")"));
  CHECK(has(call_of(chat_server, hello(), true)->body, R"("stream":true)"));
}

TEST_CASE("a key is read from the environment, by the name that the API has for it") {
  const auto openai = *call_of(chat_server);
  const auto messages = *call_of(anthropic);
  backend::credentials opens;
  CHECK_FALSE(has(curl_command(openai, "http://h", opens), "KEY"));
  opens.key_file = "/secret/file";
  CHECK(has(curl_command(openai, "http://h", opens), R"(-H 'Authorization: Bearer '"$OPENAI_API_KEY")"));
  CHECK(has(curl_command(messages, "http://h", opens), R"(-H 'x-api-key: '"$ANTHROPIC_API_KEY")"));
  CHECK(has(curl_command(messages, "http://h", opens), "-H 'anthropic-version: 2023-06-01'"));
  opens.where = backend::credentials::placement::x_api_key;
  CHECK(has(curl_command(openai, "http://h", opens), R"(-H 'x-api-key: '"$OPENAI_API_KEY")"));
  opens = {};
  opens.key_env = "MINE";
  CHECK(has(curl_command(openai, "http://h", opens), R"("$MINE")"));
  // No variable's name, but a part of the command.
  opens.key_env = "X\"; rm -rf \"$HOME";
  CHECK_FALSE(has(curl_command(openai, "http://h", opens), "rm -rf"));
}

TEST_CASE("what opens a server stands in no command") {
  backend::credentials opens;
  opens.headers = {{"x-team", "secret"}, {"x-other", "env:OTHER"}, {"content-type", "secret"}};
  opens.query = {{"sig", "secret"}, {"2nd", "secret"}};
  const auto told = curl_command(*call_of(chat_server), "http://h/v1/", opens);
  CHECK_FALSE(has(told, "secret"));
  CHECK(has(told, R"(curl -sS -N 'http://h/v1/chat/completions''?sig='"$SIG"'&2nd='"$VALUE_2ND")"));
  CHECK(has(told, R"(-H 'x-team: '"$X_TEAM")"));
  CHECK(has(told, R"(-H 'x-other: '"$OTHER")"));
  // It takes the place of evalcore's own.
  CHECK_FALSE(has(told, "Content-Type"));
}

TEST_CASE("a server that was started has a port to fill in") {
  const auto told = curl_command(*call_of(chat_server), "", {});
  CHECK(has(told, R"('http://127.0.0.1:'"$PORT"'/v1/chat/completions')"));
}

TEST_CASE("a quote of the shell is written so that it stays one") {
  auto request = hello();
  request.messages.front().text = "it's";
  CHECK(has(curl_command(*call_of(chat_server, request), "http://h'$(id)", {}), R"("content":"it'\''s")"));
  CHECK(has(curl_command(*call_of(chat_server, request), "http://h'$(id)", {}), R"('http://h'\''$(id)/v1/)"));
}
