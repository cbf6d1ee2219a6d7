#include <doctest/doctest.h>

#include <string>

#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/wire/openai_completions.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

namespace {

using ids = chat::token_ids;

result<chat::loglikelihood> read(const chat::prompt& context, const chat::prompt& continuation,
                                 const std::string& body) {
  const auto reply = wire::decode_openai_completion(body, *wire::find_dialect("generic"));
  REQUIRE_MESSAGE(reply, (reply ? std::string() : reply.error().message));
  return chat::read_loglikelihood({.context = context, .continuation = continuation}, *reply);
}

std::string reply_with(const std::string& logprobs, int prompt_tokens) {
  return R"({"choices":[{"index":0,"text":"","logprobs":{)" + logprobs +
         R"(},"finish_reason":"length"}],"usage":{"prompt_tokens":)" + std::to_string(prompt_tokens) + "}}";
}

// vLLM's shape. lm-eval's parse_logprobs with ctxlens = [4] reads (-1.125, False) from it, with [5] (-0.125,
// True): it leaves the generated token at the end out.
const std::string capital = reply_with(
    R"("text_offset":[0,3,11,14,21,24,30],"token_logprobs":[null,-3.25,-1.5,-0.25,-1.0,-0.125,-0.5],)"
    R"("tokens":["The"," capital"," of"," France"," is"," Paris","."],)"
    R"("top_logprobs":[null,{" first":-1.0," capital":-3.25},{" of":-1.5},{" France":-0.25},)"
    R"({" was":-0.75," is":-1.0},{" Paris":-0.125},{".":-0.5}])",
    6);

}  // namespace

TEST_CASE("a continuation's likelihood is what lm-eval reads from the same answer") {
  struct row {
    const char* context;
    const char* continuation;
    double sum;
    bool greedy;
    std::uint64_t tokens;
  };
  const row rows[] = {
      {"The capital of France", " is Paris", -1.125, false, 2},
      {"The capital of France is", " Paris", -0.125, true, 1},
      {"The capital of France is ", "Paris", -0.125, true, 1},  // The blank goes with the word.
  };
  for (const auto& one : rows) {
    CAPTURE(one.context);
    const auto got = read(one.context, one.continuation, capital);
    REQUIRE(got);
    CHECK(got->sum_logprob == one.sum);
    CHECK(got->is_greedy == one.greedy);
    CHECK(got->tokens == one.tokens);
  }
  const auto by_ids = read(ids{1, 2, 3, 4}, ids{5, 6}, capital);
  REQUIRE(by_ids);
  CHECK(by_ids->sum_logprob == -1.125);
  CHECK(by_ids->is_greedy == false);
  CHECK(by_ids->tokens == 2);
}

TEST_CASE("a token over the boundary is an error, not a share of a score") {
  for (const auto* context : {"The cap", "The capital of France is Par"}) {
    const std::string whole = "The capital of France is Paris";
    const auto got = read(context, whole.substr(std::string(context).size()), capital);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::invalid_request);
    CHECK(got.error().message.find("send token ids") != std::string::npos);
  }
}

TEST_CASE("a token that the server puts first moves no boundary, though it moves the offsets") {
  const auto got = read("a b", " c",
                        reply_with(R"("text_offset":[0,3,4,6,8],"token_logprobs":[null,-4,-2,-0.5,-1],)"
                                   R"("tokens":["<s>","a"," b"," c","x"])",
                                   4));
  REQUIRE(got);
  CHECK(got->sum_logprob == -0.5);
  CHECK(got->tokens == 1);
  CHECK_FALSE(got->is_greedy);  // Nothing tells the likeliest.
}

TEST_CASE("characters cut by tokens are found by their offsets, which count characters") {
  // "é: 日本" and its "本" of two tokens; the texts of cut characters do not add up to the prompt.
  const std::string columns = R"("token_logprobs":[null,-1,-2,-4,-8],"tokens":["é",":"," 日","�","�"],)";
  const auto got = read("é: 日", "本", reply_with(columns + R"("text_offset":[0,1,2,4,4])", 5));
  REQUIRE_MESSAGE(got, (got ? "" : got.error().message));
  CHECK(got->sum_logprob == -12);
  CHECK(got->tokens == 2);
  // Offsets that count something else (here a first token of three characters) are not believed.
  const auto shifted = read("é: 日", "本", reply_with(columns + R"("text_offset":[0,4,5,7,7])", 5));
  REQUIRE_FALSE(shifted);
  CHECK(shifted.error().code == errc::unsupported);
  CHECK(shifted.error().message.find("send token ids") != std::string::npos);
}

TEST_CASE("an answer without the prompt's logprobs is refused whatever it holds") {
  for (const auto* file :
       {"llama_comp_echo_logprobs", "llama_comp_echo_logprobs_max1", "mlxlm_comp_echo_logprobs"}) {
    CAPTURE(file);
    const auto body = read_capture(file).body;
    const auto reply = wire::decode_openai_completion(body, *wire::find_dialect("generic"));
    REQUIRE(reply);
    const auto got = chat::read_loglikelihood({.context = "The capital", .continuation = " of"}, *reply);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::unsupported);
    CHECK(got.error().message.find("only those of generated tokens") != std::string::npos);
  }
}

TEST_CASE("what cannot be scored says why") {
  CHECK(read("", "The capital of France is Paris", capital).error().code == errc::invalid_argument);
  CHECK(read("The", "", capital).error().code == errc::invalid_argument);
  CHECK(read("The", ids{1}, capital).error().code == errc::invalid_argument);
  const auto positive =
      read("a", " b", reply_with(R"("token_logprobs":[null,0.5],"tokens":["a"," b"],"text_offset":[])", 2));
  CHECK(positive.error().code == errc::bad_reply);
}

TEST_CASE("the completion asks for one token after an echo with logprobs") {
  const auto asked = chat::completion_for({.context = ids{1, 2}, .continuation = ids{3}});
  REQUIRE(asked);
  CHECK(std::get<ids>(asked->prompts.at(0)) == ids{1, 2, 3});
  const auto body = wire::encode_openai_completion(*asked, *wire::find_dialect("vllm"), false);
  REQUIRE(body);
  CHECK(body->body ==
        R"({"prompt":[1,2,3],"max_tokens":1,"temperature":0.0,"echo":true,"logprobs":1,"stream":false})");
}
