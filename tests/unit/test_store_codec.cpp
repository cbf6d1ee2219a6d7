#include <doctest/doctest.h>

#include <string>

#include "run/store_codec.hpp"

using namespace evalcore;

TEST_CASE("a stored reply keeps every field") {
  chat::reply reply;
  reply.text = "a";
  reply.reasoning = "b";
  reply.thinking = {{.text = "b", .signature = "c2ln", .id = "rs_1"}, {.redacted = "ZGF0YQ=="}};
  reply.calls = {{"c1", "f", "{\"x\": 1.0}"}};
  reply.finish = chat::finish_reason::content_filter;
  reply.finish_raw = "refusal";
  reply.stop_string = "\n\n";
  reply.refusal = "not that";
  reply.model = "m";
  reply.usage.cached_tokens = 0;
  reply.usage.cache_write_tokens = 12;
  chat::token_logprob token;
  token.token = "\xEF\xBF\xBD";
  token.bytes = "\xF0\x9F";  // The first half of an emoji.
  token.logprob = -0.25;
  token.top.push_back({.token = "x", .bytes = std::string(), .logprob = -1e-9});
  reply.logprobs = {token, {}};
  reply.dropped = {"seed"};
  reply.damage = {.duplicate_key = true, .lone_surrogate = true};
  reply.choices = {{.sum_logprob = -12.345678901234567, .is_greedy = true, .tokens = 7},
                   {.sum_logprob = -1e-300, .is_greedy = {}, .tokens = 1}};

  const auto read = run::decode_reply(run::encode_reply(reply));
  REQUIRE(read);
  CHECK(read->text == "a");
  CHECK(read->reasoning == "b");
  REQUIRE(read->thinking.size() == 2);
  CHECK(read->thinking[0].text == "b");
  CHECK(read->thinking[0].signature == "c2ln");
  CHECK(read->thinking[0].id == "rs_1");
  CHECK(read->thinking[1].redacted == "ZGF0YQ==");
  REQUIRE(read->choices.size() == 2);
  CHECK(read->choices[0].sum_logprob == -12.345678901234567);
  CHECK(read->choices[0].is_greedy == true);
  CHECK(read->choices[0].tokens == 7);
  CHECK(read->choices[1].sum_logprob == -1e-300);
  CHECK_FALSE(read->choices[1].is_greedy);
  REQUIRE(read->calls.size() == 1);
  CHECK(read->calls[0].arguments == "{\"x\": 1.0}");
  CHECK(read->finish == chat::finish_reason::content_filter);
  CHECK(read->finish_raw == "refusal");
  CHECK(read->stop_string == "\n\n");
  CHECK(read->refusal == "not that");
  CHECK(read->usage.cached_tokens == 0);
  CHECK(read->usage.cache_write_tokens == 12);
  CHECK_FALSE(read->usage.prompt_tokens);
  REQUIRE(read->logprobs.size() == 2);
  CHECK(read->logprobs[0].bytes == "\xF0\x9F");
  CHECK(read->logprobs[0].logprob == -0.25);
  REQUIRE(read->logprobs[0].top.size() == 1);
  CHECK(read->logprobs[0].top[0].bytes == "");
  CHECK(read->logprobs[0].top[0].logprob == -1e-9);
  CHECK_FALSE(read->logprobs[1].logprob);
  CHECK_FALSE(read->logprobs[1].bytes);
  CHECK(read->dropped == std::vector<std::string>{"seed"});
  CHECK(read->damage == reply.damage);
}

TEST_CASE("a reply that an earlier version stored still reads, and is written as it was") {
  const std::string row =
      R"({"text":"a","reasoning":"","calls":[],"finish":"stop","finish_raw":"stop","model":"m",)"
      R"("usage":{"prompt_tokens":3},"timing":{"total_ns":5},"dropped":[]})";
  const auto read = run::decode_reply(row);
  REQUIRE(read);
  CHECK(read->logprobs.empty());
  CHECK(read->damage == chat::json_damage{});
  CHECK(run::encode_reply(*read) == row);
}

TEST_CASE("text that is no stored reply is an error") {
  CHECK_FALSE(run::decode_reply("{}"));
  CHECK_FALSE(run::decode_reply(R"({"text":"a"})"));
}
