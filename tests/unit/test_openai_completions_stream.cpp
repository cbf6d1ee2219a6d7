#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/wire/openai_completions.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

namespace {

result<chat::completion_reply> stream(std::string_view bytes, std::string_view dialect = "generic",
                                      std::size_t prompts = 1) {
  wire::openai_completion_stream decoder(*wire::find_dialect(dialect), prompts);
  if (auto made = decoder.feed(bytes); !made) return std::move(made).error();
  return decoder.take();
}

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

errc code(const result<chat::completion_reply>& got) {
  REQUIRE_FALSE(got);
  return got.error().code;
}

}  // namespace

TEST_CASE("usage rides on the last chunk with a choice, or on one without") {
  const auto llama = stream(read_capture("llama_comp_stream").body, "llama-server");
  REQUIRE(llama);
  CHECK(llama->completions[0].text == " Paris.\n");
  CHECK(llama->completions[0].finish == chat::finish_reason::length);
  CHECK(llama->usage.cached_tokens == 4);
  const auto mlx = stream(read_capture("mlxlm_comp_stream").body, "mlx-server");
  REQUIRE(mlx);
  CHECK(mlx->completions[0].text == "JW JW JW");
  CHECK(mlx->usage.prompt_tokens == 5);
}

TEST_CASE("comments are counted, and the first text is the first token") {
  const capture one = read_capture("llama_comp_stream");
  wire::openai_completion_stream decoder(*wire::find_dialect("llama-server"));
  const std::size_t first = one.body.find("data: ");
  auto made = decoder.feed(std::string_view(one.body).substr(0, first));
  REQUIRE(made);
  CHECK_FALSE(made->content);
  CHECK(decoder.comments() == 8);
  made = decoder.feed(std::string_view(one.body).substr(first));
  REQUIRE(made);
  CHECK(made->content);
  CHECK(made->text == " Paris.\n");
}

TEST_CASE("the answers to several prompts may come mixed") {
  const auto got = stream(event(R"({"choices":[{"index":1,"text":"B"}]})") +
                              event(R"({"choices":[{"index":0,"text":"A"},{"index":1,"text":"b"}]})") +
                              event(R"({"choices":[{"index":1,"text":"","finish_reason":"stop"}]})") +
                              event(R"({"choices":[{"index":0,"text":"a","finish_reason":"length"}]})"),
                          "vllm", 2);
  REQUIRE(got);
  CHECK(got->completions[0].text == "Aa");
  CHECK(got->completions[0].finish == chat::finish_reason::length);
  CHECK(got->completions[1].text == "Bb");
  CHECK(got->completions[1].finish == chat::finish_reason::stop);
}

TEST_CASE("a stream that serves only the first of several prompts is no answer") {
  const std::string only = event(R"({"choices":[{"index":0,"text":"A","finish_reason":"stop"}]})");
  CHECK(code(stream(only, "vllm", 2)) == errc::truncated);
  CHECK(code(stream(only + event("[DONE]"), "vllm", 2)) == errc::bad_reply);
  CHECK(stream(only, "vllm"));
  CHECK(code(stream(event(R"({"choices":[{"index":1,"text":"B"}]})"), "vllm")) == errc::bad_reply);
}

TEST_CASE("the end of a stream needs proof") {
  const std::string text = event(R"({"choices":[{"index":0,"text":"A","finish_reason":null}]})");
  CHECK(code(stream(text)) == errc::truncated);
  CHECK(stream(text + event("[DONE]")));
  // Here [DONE] proves nothing.
  CHECK(code(stream(text + event("[DONE]"), "llama-server")) == errc::truncated);
  CHECK(code(stream("")) == errc::truncated);
  CHECK(code(stream(event("[DONE]"))) == errc::bad_reply);
  CHECK(code(stream(read_capture("mlxlm_canned_poison_prompt_list_stream").body, "mlx-server")) ==
        errc::truncated);
}

TEST_CASE("a failure in the middle of a stream is that failure") {
  const std::string text = event(R"({"choices":[{"index":0,"text":"A"}]})");
  const std::string full =
      R"({"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}})";
  const auto got = stream(text + event(full), "llama-server");
  CHECK(code(got) == errc::overloaded);
  CHECK(got.error().backend_words == "Context size has been exceeded.");
  CHECK(code(stream(text + "error: " + full + "\n\n" + event("[DONE]"), "llama-server")) == errc::overloaded);
  // posttrainllm tells it by the finish reason alone.
  CHECK(code(stream(text + event(R"({"choices":[{"index":0,"text":"","finish_reason":"error"}]})") +
                    event("[DONE]"))) == errc::backend_fault);
  CHECK(code(stream(text + event("{\"choices\":"))) == errc::bad_reply);
}

TEST_CASE("an error ends a stream decoder for good") {
  wire::openai_completion_stream decoder(*wire::find_dialect("generic"));
  CHECK_FALSE(decoder.feed(event("nonsense")));
  const auto again = decoder.feed(event(R"({"choices":[{"text":"A","finish_reason":"stop"}]})"));
  REQUIRE_FALSE(again);
  CHECK(again.error().code == errc::bad_reply);
  CHECK(code(decoder.take()) == errc::bad_reply);
}

TEST_CASE("chunks that keep the connection alive are no answer") {
  const std::string alive = event(
      R"({"id":"x","object":"text_completion","model":"keepalive","choices":[{"index":0,"text":"","finish_reason":null}]})");
  CHECK(code(stream(alive + alive + event("[DONE]"))) == errc::bad_reply);
  const auto got =
      stream(alive + event(R"({"model":"m","choices":[{"index":0,"text":"A","finish_reason":"stop"}]})"));
  REQUIRE(got);
  CHECK(got->model == "m");
  CHECK(got->completions[0].text == "A");
}

TEST_CASE("logprobs of a stream are put together, the first token without one") {
  const auto got = stream(
      event(
          R"({"choices":[{"index":0,"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1.5]}}]})") +
      event(R"({"choices":[{"index":0,"text":"c","logprobs":{"tokens":["c"],"token_logprobs":[null]}}]})") +
      event(
          R"({"choices":[{"index":0,"text":"d","logprobs":{"tokens":["d"],"token_logprobs":[-Infinity]},"finish_reason":"length"}]})"));
  REQUIRE(got);
  const auto& tokens = got->completions[0].tokens;
  REQUIRE(tokens.size() == 4);
  CHECK_FALSE(tokens[0].logprob);
  CHECK(tokens[1].logprob == -1.5);
  CHECK(tokens[2].logprob == chat::logprob_floor);
  CHECK(tokens[3].logprob == chat::logprob_floor);
}
