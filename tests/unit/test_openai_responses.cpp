#include <doctest/doctest.h>

#include <string>

#include <evalcore/wire/openai_chat.hpp>

#include "unit/capture.hpp"
#include "unit/responses_data.hpp"

using namespace evalcore;
using chat::finish_reason;

namespace {

result<chat::reply> whole(std::string_view body, std::string_view dialect = "openai") {
  return wire::decode_openai_response(body, *wire::find_dialect(dialect));
}

chat::reply read(const std::string& name) {
  auto got = whole(responses_data(name + ".json"));
  REQUIRE_MESSAGE(got, name);
  return *std::move(got);
}

error refused(const result<chat::reply>& got) {
  REQUIRE_FALSE(got);
  CHECK_FALSE(got.error().message.empty());
  return got.error();
}

}  // namespace

TEST_CASE("responses: text, token counts and logprobs with their bytes") {
  const auto reply = read("openai_text");
  CHECK(reply.text == "Grüße, 世界 😀!");
  CHECK(reply.finish == finish_reason::stop);
  CHECK(reply.finish_raw == "completed");
  CHECK(reply.model == "gpt-5.4-mini-2026-03-17");
  CHECK(reply.usage.prompt_tokens == 2006);
  CHECK(reply.usage.cached_tokens == 1920);
  CHECK(reply.usage.cache_write_tokens == 0);
  CHECK(reply.usage.completion_tokens == 300);
  CHECK(reply.usage.reasoning_tokens == 0);
  REQUIRE(reply.logprobs.size() == 5);
  CHECK(reply.logprobs[1].token == "üße");
  CHECK(reply.logprobs[1].bytes == "\xC3\xBC\xC3\x9F\x65");
  CHECK(reply.logprobs[3].logprob == -1.0);
  REQUIRE(reply.logprobs[3].top.size() == 2);
  CHECK(reply.logprobs[3].top[1].token == " 🙂");
  CHECK(reply.logprobs[3].top[1].logprob == -1.5);
  CHECK(reply.logprobs[4].top[1].bytes == "");
}

TEST_CASE("responses: reasoning, several messages and calls in one answer") {
  const auto reply = read("openai_calls");
  CHECK(reply.text == "Let me look. Two calls made.");
  CHECK(reply.finish == finish_reason::tool_calls);
  REQUIRE(reply.calls.size() == 2);
  CHECK(reply.calls[0].id == "call_get_weather2");
  CHECK(reply.calls[0].name == "get_weather");
  CHECK(reply.calls[0].arguments == R"({"city":"Paris","days":[1,2],"unit":"°C"})");
  CHECK(reply.calls[1].name == "now");
  CHECK(reply.calls[1].arguments.empty());
  CHECK(reply.reasoning == "**Two cities**\n\nBoth need the weather.\n\n**Calling**\n\nOne call each.");
  REQUIRE(reply.thinking.size() == 1);
  CHECK(reply.thinking[0].id == "rs_67ccd2bf17f0819081ff3bb2cf6508d0");
  CHECK(reply.thinking[0].signature == "gAAAAABoISQ24OyVRYbkYfukdJoqdzWT-3uiErKInHDC==");
  CHECK(reply.usage.reasoning_tokens == 128);
}

TEST_CASE("responses: a model that shows its reasoning is read in full") {
  const auto reply = read("open_model_reasoning");
  CHECK(reply.reasoning == "Two plus two is four.");
  CHECK(reply.text == "4");
  REQUIRE(reply.thinking.size() == 1);
  CHECK(reply.thinking[0].signature.empty());
}

TEST_CASE("responses: how an answer ended") {
  const auto refusal = read("openai_refusal");
  CHECK(refusal.refusal == "I'm sorry, I cannot assist with that request.");
  CHECK(refusal.text.empty());
  CHECK(refusal.finish == finish_reason::stop);

  const auto cut = read("openai_length");
  CHECK(cut.text == "One two three fo");
  CHECK(cut.finish == finish_reason::length);
  CHECK(cut.finish_raw == "max_output_tokens");

  const auto only_thought = read("openai_length_in_reasoning");
  CHECK(only_thought.text.empty());
  CHECK(only_thought.finish == finish_reason::length);
  CHECK(only_thought.usage.reasoning_tokens == 16);

  CHECK(read("openai_filter").finish == finish_reason::content_filter);
  CHECK(read("openai_filter").text == "The recipe");

  const auto steered =
      whole(R"({"status":"incomplete","incomplete_details":{"reason":"steered"},"output":[]})");
  REQUIRE(steered);
  CHECK(steered->finish == finish_reason::other);
  CHECK(steered->finish_raw == "steered");
}

TEST_CASE("responses: one that failed is that failure, never an answer") {
  const auto failed = refused(whole(responses_data("openai_failed.json")));
  CHECK(failed.code == errc::backend_fault);
  CHECK(failed.backend_words == "The model failed to generate a response.");
  CHECK(refused(whole(responses_data("openai_failed_limit.json"))).code == errc::rate_limited);
  CHECK(refused(whole(responses_data("openai_failed_prompt.json"))).code == errc::invalid_request);
  CHECK(refused(whole(R"({"status":"failed"})")).code == errc::backend_fault);
  CHECK(refused(whole(R"({"status":"cancelled","output":[]})")).code == errc::backend_fault);
  CHECK(refused(whole(R"({"error":{"code":"bio_policy","message":"x"},"status":"failed"})")).code ==
        errc::refused_content);
  CHECK(refused(whole(R"({"error":{"message":"x","code":503}})")).code == errc::overloaded);
}

TEST_CASE("responses: what is none, or is not finished") {
  for (const char* body :
       {"", "  ", "{", "[]", "{}", R"({"status":"completed"})", R"({"status":"completed","output":null})",
        R"({"status":"completed","output":{}})", R"({"status":"completed","output":["x"]})",
        R"({"status":"in_progress","output":[]})", R"({"status":"queued","output":[]})",
        R"({"output":[{"type":"message","content":7}]})",
        R"({"output":[{"type":"message","content":[{"type":"output_text","text":7}]}]})",
        R"({"output":[{"type":"function_call","name":"f","arguments":7}]})",
        R"({"choices":[{"message":{"content":"x"}}]})"}) {
    CHECK_MESSAGE(refused(whole(body)).code == errc::bad_reply, body);
  }
}

TEST_CASE("responses: absent counts are unknown, and items of other kinds are skipped") {
  const auto got = whole(R"({"status":"completed","output":[{"type":"web_search_call","id":"ws_1"},
      {"type":"message","content":[{"type":"output_text","text":"a"},{"type":"novelty"}]}]})");
  REQUIRE(got);
  CHECK(got->text == "a");
  CHECK_FALSE(got->usage.prompt_tokens);
  CHECK_FALSE(got->usage.cached_tokens);
  CHECK_FALSE(got->usage.reasoning_tokens);
}

TEST_CASE("responses: a real server's whole answers") {
  const auto reply = [](const char* name) {
    const auto one = read_capture(std::string("../responses/llama_") + name);
    REQUIRE(one.status == 200);
    auto got = whole(one.body, "generic");
    REQUIRE(got);
    return *std::move(got);
  };
  CHECK(reply("text").text == "Hello!");
  CHECK(reply("text").usage.prompt_tokens == 21);
  CHECK(reply("text").usage.completion_tokens == 7);
  CHECK(reply("emoji").text == "café 😀 你好");
  CHECK(reply("length").text == "Hel");
  CHECK(reply("think").text == "<think>Two plus two is four.</think>The answer is 4.");
  const auto mixed = reply("mixed");
  CHECK(mixed.text == "Let me check.");
  REQUIRE(mixed.calls.size() == 2);
  CHECK(mixed.calls[1].name == "get_weather");
  CHECK(mixed.calls[1].id.starts_with("call_"));
  CHECK(mixed.finish == finish_reason::tool_calls);

  const auto overflow = read_capture("../responses/llama_overflow");
  const auto& ways = *wire::find_dialect("generic");
  CHECK(overflow.status == 400);
  CHECK(wire::classify_openai_error(overflow.status, overflow.body, ways).code == errc::context_overflow);
}

TEST_CASE("responses: an answer that does not say how it ended, or calls nothing by name, is none") {
  for (const char* body :
       {R"({"output":[]})", R"({"status":null,"output":[]})", R"({"status":"novel","output":[]})",
        R"({"status":"completed","output":[{"type":"function_call","call_id":"a","arguments":"{}"}]})",
        R"({"status":"completed","output":[{"type":"function_call","call_id":"a","name":""}]})"}) {
    CAPTURE(body);
    CHECK(refused(whole(body)).code == errc::bad_reply);
  }
}
