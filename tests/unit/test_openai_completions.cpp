#include <doctest/doctest.h>

#include <limits>
#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

namespace {

using ids = chat::token_ids;

const wire::dialect& ways(std::string_view name) {
  const auto* found = wire::find_dialect(name);
  REQUIRE(found != nullptr);
  return *found;
}

chat::completion_request asking(std::vector<chat::prompt> prompts) {
  chat::completion_request request;
  request.prompts = std::move(prompts);
  return request;
}

std::string encode(const chat::completion_request& request, std::string_view dialect, bool stream = false) {
  const auto got = wire::encode_openai_completion(request, ways(dialect), stream);
  REQUIRE(got);
  CHECK(json::parse(got->body));
  return got->body;
}

errc refusal(const chat::completion_request& request, std::string_view dialect) {
  const auto got = wire::encode_openai_completion(request, ways(dialect), false);
  REQUIRE_FALSE(got);
  CHECK(got.error().at == stage::send);
  CHECK_FALSE(got.error().message.empty());
  return got.error().code;
}

}  // namespace

TEST_CASE("the least completion") {
  const auto request = asking({"Once"});
  CHECK(encode(request, "generic") == R"({"prompt":"Once","stream":false})");
  CHECK(encode(request, "generic", true) ==
        R"({"prompt":"Once","stream":true,"stream_options":{"include_usage":true}})");
}

TEST_CASE("every parameter of a completion has its place") {
  auto request = asking({"a \"b\"\n"});
  request.model = "m";
  request.params.max_tokens = 0;
  request.params.temperature = 0;
  request.params.top_p = 0.95;
  request.params.top_k = 40;
  request.params.seed = -1;
  request.params.stop = {"\n", "Q:"};
  request.params.top_logprobs = 5;
  request.echo = true;
  CHECK(encode(request, "vllm") ==
        R"({"model":"m","prompt":"a \"b\"\n","max_tokens":0,"temperature":0.0,"top_p":0.95,"top_k":40,)"
        R"("seed":-1,"stop":["\n","Q:"],"echo":true,"logprobs":5,"stream":false})");
}

TEST_CASE("prompts go as text, as ids, or as a list of either") {
  CHECK(encode(asking({ids{1, 0, 4294967295}}), "llama-server") ==
        R"({"prompt":[1,0,4294967295],"stream":false})");
  CHECK(encode(asking({"a", "b"}), "llama-server") == R"({"prompt":["a","b"],"stream":false})");
  CHECK(encode(asking({ids{1, 2}, ids{3}}), "vllm") == R"({"prompt":[[1,2],[3]],"stream":false})");
}

TEST_CASE("what ends a server is never sent to it, nor to a server that is not known") {
  for (const char* dialect : {"mlx-server", "generic", "ollama"}) {
    CAPTURE(dialect);
    CHECK(refusal(asking({"a", "b"}), dialect) == errc::unsupported);
    CHECK(refusal(asking({ids{1, 2}}), dialect) == errc::unsupported);
    CHECK(refusal(asking({""}), dialect) == errc::invalid_argument);
    CHECK(refusal(asking({ids{}}), dialect) == errc::invalid_argument);
  }
  CHECK(encode(asking({""}), "llama-server") == R"({"prompt":"","stream":false})");
}

TEST_CASE("a completion that contradicts itself is refused") {
  CHECK(refusal(asking({}), "vllm") == errc::invalid_argument);
  CHECK(refusal(asking({"a", ids{1}}), "vllm") == errc::invalid_argument);
  auto request = asking({"a"});
  request.params.temperature = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(request, "vllm") == errc::invalid_argument);
  request.params.temperature = std::nullopt;
  request.params.n = 2;
  CHECK(refusal(request, "vllm") == errc::unsupported);
  request.params.n = 1;
  CHECK(encode(request, "vllm") == R"({"prompt":"a","stream":false})");
  request.params.format = chat::response_format{};
  CHECK(refusal(request, "vllm") == errc::unsupported);
}

TEST_CASE("likelihood is not asked of a server that is known to score generated tokens only") {
  auto request = asking({"a"});
  request.echo = true;
  request.params.logprobs = true;
  request.params.max_tokens = 1;
  for (const char* dialect : {"llama-server", "mlx-server", "omlx", "ollama"}) {
    CAPTURE(dialect);
    CHECK(refusal(request, dialect) == errc::unsupported);
  }
  for (const char* dialect : {"posttrainllm", "vllm", "sglang", "generic"}) {
    CAPTURE(dialect);
    CHECK(encode(request, dialect) ==
          R"({"prompt":"a","max_tokens":1,"echo":true,"logprobs":1,"stream":false})");
  }
}

TEST_CASE("logprobs of generated tokens are a flag where the server wants one") {
  auto request = asking({"a"});
  request.params.top_logprobs = 3;
  CHECK(encode(request, "llama-server") == R"({"prompt":"a","logprobs":3,"stream":false})");
  CHECK(encode(request, "mlx-server") == R"({"prompt":"a","logprobs":true,"top_logprobs":3,"stream":false})");
}

TEST_CASE("fields that a server ignores are left out and listed") {
  auto request = asking({"a"});
  request.params.seed = 1;
  request.params.top_p = 0.5;
  const auto got = wire::encode_openai_completion(request, ways("posttrainllm"), false);
  REQUIRE(got);
  CHECK(got->body == R"({"prompt":"a","stream":false})");
  CHECK(got->dropped == std::vector<std::string>{"top_p", "seed"});
}

TEST_CASE("hints of a completion go only where they are understood") {
  auto request = asking({"a"});
  request.hints.slot = 3;
  request.hints.use_cache = false;
  CHECK(encode(request, "generic") == R"({"prompt":"a","stream":false})");
  CHECK(encode(request, "llama-server") ==
        R"({"prompt":"a","stream":false,"id_slot":3,"cache_prompt":false})");
}

TEST_CASE("an answer has one completion for each prompt, in the order of the prompts") {
  const auto& any = ways("vllm");
  const char* body = R"({"model":"m","choices":[{"index":1,"text":"B","finish_reason":"stop"},)"
                     R"({"index":0,"text":"A","finish_reason":"length"}],)"
                     R"("usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null}})";
  const auto got = wire::decode_openai_completion(body, any, 2);
  REQUIRE(got);
  REQUIRE(got->completions.size() == 2);
  CHECK(got->completions[0].text == "A");
  CHECK(got->completions[0].finish == chat::finish_reason::length);
  CHECK(got->completions[1].text == "B");
  CHECK(got->completions[1].finish == chat::finish_reason::stop);
  CHECK(got->model == "m");
  CHECK(got->usage.prompt_tokens == 9);
  CHECK_FALSE(got->usage.cached_tokens);

  // One more, one fewer, and one twice.
  CHECK(wire::decode_openai_completion(body, any, 1).error().code == errc::bad_reply);
  CHECK(wire::decode_openai_completion(body, any, 3).error().code == errc::bad_reply);
  CHECK(wire::decode_openai_completion(R"({"choices":[{"text":"A"},{"text":"B"}]})", any, 2).error().code ==
        errc::bad_reply);
}

TEST_CASE("usage that counts one of several prompts is unknown, not wrong") {
  const capture two = read_capture("llama_comp_array");
  const auto got = wire::decode_openai_completion(two.body, ways("llama-server"), 2);
  REQUIRE(got);
  CHECK(got->completions[1].text == " a great");
  CHECK_FALSE(got->usage.prompt_tokens);
  const capture one = read_capture("llama_comp_tokens");
  CHECK(wire::decode_openai_completion(one.body, ways("llama-server"))->usage.prompt_tokens == 2);
}

TEST_CASE("what is no text completion is a typed error") {
  const auto code = [](std::string_view body) {
    const auto got = wire::decode_openai_completion(body, *wire::find_dialect("generic"));
    return got ? "an answer" : std::string(name(got.error().code));
  };
  CHECK(code("") == "bad_reply");
  CHECK(code(" \n") == "bad_reply");
  CHECK(code("<html>") == "bad_reply");
  CHECK(code("[]") == "bad_reply");
  CHECK(code(R"({"choices":[]})") == "bad_reply");
  CHECK(code(R"({"choices":[1]})") == "bad_reply");
  CHECK(code(R"({"choices":[{"text":5}]})") == "bad_reply");
  CHECK(code(R"({"choices":[{"message":{"content":"chat"}}]})") == "bad_reply");
  CHECK(code(R"({"choices":[{"text":"x","finish_reason":"error"}]})") == "backend_fault");
  CHECK(code(R"({"error":{"message":"Prompt too long: 9 tokens exceeds max context window of 8 tokens"}})") ==
        "context_overflow");
  CHECK(code(R"({"choices":[{"text":""}]})") == "an answer");
}

TEST_CASE("a refused completion keeps its class and the server's words") {
  const capture one = read_capture("llama_err_ctx_completions");
  const error got = wire::classify_openai_error(one.status, one.body, ways("llama-server"));
  CHECK(got.code == errc::context_overflow);
  CHECK(got.http_status == 400);
  CHECK(got.backend_words ==
        "request (701 tokens) exceeds the available context size (512 tokens), try increasing it");
}
