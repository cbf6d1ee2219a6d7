#include <doctest/doctest.h>

#include <numeric>
#include <string>

#include <evalcore/wire/openai_completions.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

namespace {

using ids = chat::token_ids;

result<chat::completion_reply> decode(std::string_view body, std::size_t prompts = 1) {
  return wire::decode_openai_completion(body, *wire::find_dialect("generic"), prompts);
}

chat::completion_request scoring(std::vector<chat::prompt> prompts) {
  chat::completion_request request;
  request.prompts = std::move(prompts);
  request.echo = true;
  request.params.logprobs = true;
  request.params.max_tokens = 1;
  return request;
}

double sum(std::span<const chat::completion_token> tokens) {
  return std::accumulate(tokens.begin(), tokens.end(), 0.0,
                         [](double all, const auto& one) { return all + one.logprob.value_or(0); });
}

std::string refusal(const result<std::vector<std::span<const chat::completion_token>>>& got) {
  REQUIRE_FALSE(got);
  CHECK(got.error().code == errc::unsupported);
  return got.error().message;
}

/// One choice with these token_logprobs.
std::string with_logprobs(const std::string& values) {
  return R"({"choices":[{"text":"x","logprobs":{"token_logprobs":)" + values + R"(}}]})";
}

// vLLM's shape for echo, logprobs 1 and max_tokens 1.
const std::string vllm_echo =
    R"({"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,)"
    R"("text":"The capital of France is Paris.","logprobs":{"text_offset":[0,3,11,14,21,24,30],)"
    R"("token_logprobs":[null,-3.25,-1.5,-0.25,-0.125,-2.0,-0.5],)"
    R"("tokens":["The"," capital"," of"," France"," is"," Paris","."],)"
    R"("top_logprobs":[null,{" first":-1.0,"The":-3.25},{" of":-1.5},{" France":-0.25},{" is":-0.125},)"
    R"({" the":-1.25," Paris":-2.0},{".":-0.5}]},"finish_reason":"length","stop_reason":null,)"
    R"("prompt_logprobs":null}],"usage":{"prompt_tokens":6,"total_tokens":7,"completion_tokens":1}})";

}  // namespace

TEST_CASE("the shape of completions: tokens, logprobs, offsets and alternatives") {
  const auto got = decode(vllm_echo);
  REQUIRE(got);
  const auto& tokens = got->completions[0].tokens;
  REQUIRE(tokens.size() == 7);
  CHECK(tokens[0].token == "The");
  CHECK_FALSE(tokens[0].logprob);
  CHECK(tokens[0].top.empty());
  CHECK(tokens[5].token == " Paris");
  CHECK(tokens[5].logprob == -2.0);
  CHECK(tokens[5].text_offset == 24);
  REQUIRE(tokens[5].top.size() == 2);
  CHECK(tokens[5].top[0].token == " the");
  CHECK(tokens[5].top[0].logprob == -1.25);
}

TEST_CASE("the prompt's tokens come without the generated one") {
  const auto reply = *decode(vllm_echo);
  for (const chat::prompt& prompt :
       {chat::prompt("The capital of France is Paris"), chat::prompt(ids{1, 2, 3, 4, 5, 6})}) {
    const auto got = chat::prompt_logprobs(scoring({prompt}), reply);
    REQUIRE(got);
    REQUIRE(got->size() == 1);
    CHECK(got->front().size() == 6);
    CHECK(got->front().back().token == " Paris");
    CHECK(sum(got->front()) == -7.125);  // 3.25 + 1.5 + 0.25 + 0.125 + 2
  }
}

TEST_CASE("posttrainllm's shape: several prompts, empty lists, nothing generated") {
  const auto reply = decode(
      R"({"object":"text_completion","choices":[)"
      R"({"index":0,"text":"a b","logprobs":{"tokens":["a"," b"],"token_logprobs":[null,-1.5],)"
      R"("top_logprobs":[],"text_offset":[]},"finish_reason":"stop"},)"
      R"({"index":1,"text":"a b c","logprobs":{"tokens":["a"," b"," c"],"token_logprobs":[null,-1.5,-0.25],)"
      R"("top_logprobs":[],"text_offset":[]},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":5,"completion_tokens":0,"total_tokens":5}})",
      2);
  REQUIRE(reply);
  CHECK_FALSE(reply->completions[1].tokens[2].text_offset);
  for (const auto& prompts :
       {std::vector<chat::prompt>{"a b", "a b c"}, std::vector<chat::prompt>{ids{7, 8}, ids{7, 8, 9}}}) {
    const auto got = chat::prompt_logprobs(scoring(prompts), *reply);
    REQUIRE(got);
    CHECK(sum(got->at(0)) == -1.5);
    CHECK(sum(got->at(1)) == -1.75);
  }
}

TEST_CASE("several prompts as text with a generated token each") {
  const auto reply = decode(
      R"({"choices":[{"index":0,"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1]}},)"
      R"({"index":1,"text":"cde","logprobs":{"tokens":["c","d","e"],"token_logprobs":[null,-2,-4]}}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":2}})",
      2);
  REQUIRE(reply);
  const auto got = chat::prompt_logprobs(scoring({"a", "cd"}), *reply);
  REQUIRE(got);
  CHECK(got->at(0).size() == 1);
  CHECK(got->at(1).size() == 2);
  CHECK(sum(got->at(1)) == -2);
}

TEST_CASE("llama.cpp and mlx_lm answer echo with the logprobs of what they generated, and are refused") {
  for (const char* name : {"llama_comp_echo_logprobs", "llama_comp_echo_logprobs_max1"}) {
    CAPTURE(name);
    const auto reply = decode(read_capture(name).body);
    REQUIRE(reply);
    CHECK(reply->usage.prompt_tokens == 6);
    REQUIRE(reply->completions[0].tokens.size() == 1);
    CHECK(reply->completions[0].tokens[0].logprob == -0.3981500566005707);
    const auto got = chat::prompt_logprobs(scoring({"The capital of France is Paris"}), *reply);
    CHECK(refusal(got).find("only those of generated tokens (1 logprobs for 6 prompt tokens)") !=
          std::string::npos);
  }
  const auto reply = decode(read_capture("mlxlm_comp_echo_logprobs").body);
  REQUIRE(reply);
  refusal(chat::prompt_logprobs(scoring({"The capital of France is"}), *reply));
}

TEST_CASE("as many generated tokens as the prompt has are not taken for the prompt's") {
  const auto reply =
      decode(R"({"choices":[{"text":"b","logprobs":{"tokens":["b"],"token_logprobs":[-0.5]}}],)"
             R"("usage":{"prompt_tokens":1,"completion_tokens":1}})");
  REQUIRE(reply);
  CHECK(refusal(chat::prompt_logprobs(scoring({"a"}), *reply)).find("the first token has a logprob") !=
        std::string::npos);
  refusal(chat::prompt_logprobs(scoring({ids{1}}), *reply));
}

TEST_CASE("a count that cannot be checked, or differs, is refused") {
  const auto silent =
      decode(R"({"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1]}}]})");
  REQUIRE(silent);
  refusal(chat::prompt_logprobs(scoring({"ab"}), *silent));
  // Ids count themselves.
  CHECK(chat::prompt_logprobs(scoring({ids{1, 2}}), *silent));
  refusal(chat::prompt_logprobs(scoring({ids{1, 2, 3}}), *silent));
  const auto none = decode(R"({"choices":[{"text":"a","logprobs":null}],"usage":{"prompt_tokens":1}})");
  REQUIRE(none);
  refusal(chat::prompt_logprobs(scoring({"a"}), *none));
}

TEST_CASE("only a request for the prompt's logprobs can be read as one") {
  const auto reply = *decode(vllm_echo);
  auto request = scoring({"The capital of France is Paris"});
  request.params.max_tokens = 2;
  CHECK(chat::prompt_logprobs(request, reply).error().code == errc::invalid_argument);
  request.params.max_tokens = std::nullopt;
  CHECK(chat::prompt_logprobs(request, reply).error().code == errc::invalid_argument);
  request.params.max_tokens = 0;
  CHECK(chat::prompt_logprobs(request, reply));
  request.echo = false;
  CHECK(chat::prompt_logprobs(request, reply).error().code == errc::invalid_argument);
  CHECK(chat::prompt_logprobs(scoring({"a", "b"}), reply).error().code == errc::bad_reply);
}

TEST_CASE("every way to write that a token is ruled out is the floor") {
  for (const char* written : {"null", "-9999", "-9999.0", "\"-inf\"", "\"-Infinity\"", "-Infinity",
                              "-3.4028234663852886e38", "-1e300", "-10000"}) {
    CAPTURE(written);
    const auto got = decode(with_logprobs("[null,-0.5," + std::string(written) + "]"));
    REQUIRE(got);
    const auto& tokens = got->completions[0].tokens;
    CHECK_FALSE(tokens[0].logprob);
    CHECK(tokens[1].logprob == -0.5);
    CHECK(tokens[2].logprob == chat::logprob_floor);
  }
  const auto first = decode(with_logprobs("[-Infinity,-1]"));
  REQUIRE(first);
  CHECK(first->completions[0].tokens[0].logprob == -9999.0);
}

TEST_CASE("-Infinity in a text stays, also next to one that is a number") {
  const auto got = decode(R"({"choices":[{"text":"is \"-Infinity\\","logprobs":{"tokens":["-Infinity"],)"
                          R"("token_logprobs":[ -Infinity ]}}]})");
  REQUIRE(got);
  CHECK(got->completions[0].text == "is \"-Infinity\\");
  CHECK(got->completions[0].tokens[0].token == "-Infinity");
  CHECK(got->completions[0].tokens[0].logprob == chat::logprob_floor);
}

TEST_CASE("logprobs that are no numbers or do not fit together are no answer") {
  for (const char* written : {"[NaN]", "[Infinity]", "[\"nan\"]", "[true]", "[{}]", "[null,\"x\"]"}) {
    CAPTURE(written);
    const auto got = decode(with_logprobs(written));
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::bad_reply);
  }
  CHECK(decode(R"({"choices":[{"text":"x","logprobs":{"tokens":["a","b"],"token_logprobs":[-1]}}]})")
            .error()
            .code == errc::bad_reply);
  CHECK(decode(R"({"choices":[{"text":"x","logprobs":{"content":[{"token":"a"}]}}]})").error().code ==
        errc::bad_reply);
}

TEST_CASE("the shape of chat: an entry a token") {
  const auto got = decode(read_capture("llama_comp_logprobs").body);
  REQUIRE(got);
  const auto& tokens = got->completions[0].tokens;
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0].token == " Paris");
  CHECK(tokens[0].logprob == -0.25889989733695984);
  REQUIRE(tokens[0].top.size() == 2);
  CHECK(tokens[0].top[1].token == " the");
  CHECK(tokens[0].top[1].logprob == -2.764557123184204);
}
