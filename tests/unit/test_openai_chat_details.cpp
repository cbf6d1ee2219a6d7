#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

// Beside text, calls and usage: logprobs, stop strings, refusals, reasoning left in the text.

namespace {

result<chat::reply> decode(const std::string& body, const wire::dialect& ways) {
  return wire::decode_openai_chat(body, ways);
}

result<chat::reply> stream(const std::string& body, const wire::dialect& ways) {
  wire::openai_chat_stream decoder(ways);
  if (auto made = decoder.feed(body); !made) return std::move(made).error();
  return decoder.take();
}

const wire::dialect& ways_of(const char* name) { return *wire::find_dialect(name); }

std::string message(const std::string& content, const std::string& more = "") {
  return R"({"choices":[{"message":{"content":")" + content + "\"" + more + R"(},"finish_reason":"stop"}]})";
}

}  // namespace

TEST_CASE("llama.cpp's logprobs come with bytes and alternatives, whole and streamed") {
  const auto whole = decode(read_capture("llama_chat_logprobs").body, ways_of("llama-server"));
  REQUIRE(whole);
  REQUIRE(whole->logprobs.size() == 3);
  const auto& first = whole->logprobs[0];
  CHECK(first.token == "I");
  CHECK(first.bytes == "I");
  CHECK(*first.logprob == doctest::Approx(-2.0735206604003906));
  REQUIRE(first.top.size() == 2);
  CHECK(first.top[1].token == "That");
  CHECK(*first.top[1].logprob == doctest::Approx(-2.9857311248779297));

  const auto streamed =
      stream(read_capture("llama_chat_stream_progress_timings_logprobs").body, ways_of("llama-server"));
  REQUIRE(streamed);
  std::string text;
  for (const auto& token : streamed->logprobs) text += *token.bytes;
  CHECK(text == streamed->text);
}

TEST_CASE("a token may be half a character: its bytes are kept, null bytes are absent") {
  const auto got =
      decode(R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop","logprobs":{"content":[)"
             R"({"token":"\ufffd","bytes":[240,159],"logprob":-1,"top_logprobs":[]},)"
             R"({"token":"a","bytes":null,"logprob":null},{"id":7,"logprob":-0.5},)"
             R"({"token":"b","bytes":[256],"logprob":"-1"}]}}]})",
             ways_of("generic"));
  REQUIRE(got);
  REQUIRE(got->logprobs.size() == 4);
  CHECK(got->logprobs[0].bytes == "\xF0\x9F");
  CHECK(got->logprobs[0].logprob == -1.0);
  CHECK_FALSE(got->logprobs[1].bytes);
  CHECK_FALSE(got->logprobs[1].logprob);
  CHECK(got->logprobs[2].token.empty());
  CHECK(got->logprobs[2].logprob == -0.5);
  CHECK_FALSE(got->logprobs[3].bytes);
  CHECK_FALSE(got->logprobs[3].logprob);
}

TEST_CASE("the stop string that hit stands in two places; a stop token is none") {
  const auto stopped_by = [](const std::string& member) {
    const auto got =
        decode(R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop",)" + member + "}]}",
               ways_of("generic"));
    REQUIRE(got);
    return got->stop_string;
  };
  CHECK(stopped_by(R"("stop_reason":"###")") == "###");
  CHECK(stopped_by(R"("matched_stop":"\n\n")") == "\n\n");
  CHECK(stopped_by(R"("stop_reason":128001)").empty());
  CHECK(stopped_by(R"("matched_stop":null)").empty());
}

TEST_CASE("a refusal is kept, whole and in pieces") {
  const auto whole =
      decode(R"({"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]})",
             ways_of("openai"));
  REQUIRE(whole);
  CHECK(whole->refusal == "I cannot");
  CHECK(whole->text.empty());
  const auto streamed = stream(
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"I \"}}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"cannot\"},\"finish_reason\":\"stop\"}]}\n\n",
      ways_of("openai"));
  REQUIRE(streamed);
  CHECK(streamed->refusal == "I cannot");
}

TEST_CASE("<think> text is reasoning only where the server leaves it in the content") {
  auto leaves = ways_of("generic");
  leaves.think_text_in_content = true;
  const std::string body = message(R"(<think>\nhm\n</think>\n\n4)");
  const auto split = decode(body, leaves);
  REQUIRE(split);
  CHECK(split->text == "4");
  CHECK(split->reasoning == "\nhm\n");
  const auto kept = decode(body, ways_of("llama-server"));
  REQUIRE(kept);
  CHECK(kept->text == "<think>\nhm\n</think>\n\n4");
  CHECK(kept->reasoning.empty());
  // A server that tells reasoning apart has done so: what is left is the text.
  const auto told = decode(message("<think> is a tag", R"(,"reasoning_content":"r")"), leaves);
  REQUIRE(told);
  CHECK(told->text == "<think> is a tag");
  CHECK(told->reasoning == "r");

  const auto streamed = stream(
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hm</th\"}}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ink>4\"},\"finish_reason\":\"stop\"}]}\n\n",
      leaves);
  REQUIRE(streamed);
  CHECK(streamed->text == "4");
  CHECK(streamed->reasoning == "hm");
}
