#include <doctest/doctest.h>

#include <set>
#include <string>

#include <evalcore/wire/dialect.hpp>

using namespace evalcore;

namespace {

const wire::dialect& named(std::string_view name) {
  const auto* found = wire::find_dialect(name);
  REQUIRE_MESSAGE(found != nullptr, name);
  return *found;
}

}  // namespace

TEST_CASE("every server has one row") {
  std::set<std::string_view> names;
  for (const auto& one : wire::dialects()) {
    CHECK(names.insert(one.name).second);
    CHECK_FALSE(one.what.empty());
    CHECK(one.ready.path.starts_with('/'));
  }
  CHECK(names == std::set<std::string_view>{"generic", "posttrainllm", "omlx", "omlx-old", "mlx-server",
                                            "vllm-mlx", "llama-server", "vllm", "sglang", "ollama",
                                            "lmstudio", "abstractcore", "openai", "anthropic"});
}

TEST_CASE("each server says in its own way that it is ready") {
  // Loading, as llama.cpp's server answers on every route.
  const char* loading = R"({"error":{"message":"Loading model","type":"unavailable_error","code":503}})";
  CHECK_FALSE(wire::says_ready(named("llama-server"), 503, loading));
  CHECK(wire::says_ready(named("llama-server"), 200, R"({"status":"ok"})"));
  CHECK_FALSE(wire::says_ready(named("llama-server"), 404, ""));
  CHECK(wire::says_ready(named("vllm"), 200, ""));
  CHECK(wire::says_ready(named("posttrainllm"), 404, "not found: GET /x"));
  CHECK(wire::says_ready(named("posttrainllm"), 499, ""));
  CHECK_FALSE(wire::says_ready(named("posttrainllm"), 500, ""));
  // vllm-mlx answers 200 before the model is there.
  CHECK_FALSE(wire::says_ready(named("vllm-mlx"), 200, R"({"status":"healthy","model_loaded":false})"));
  CHECK(wire::says_ready(named("vllm-mlx"), 200, R"({"status":"healthy","model_loaded":true})"));
  for (const char* odd : {"", "[]", "{}", R"({"model_loaded":"yes"})", R"({"model_loaded":1})"}) {
    CHECK_FALSE_MESSAGE(wire::says_ready(named("vllm-mlx"), 200, odd), odd);
  }
}

TEST_CASE(
    "what kills mlx_lm's server for all its clients is allowed nowhere but where it is known to be safe") {
  for (const char* unsafe : {"mlx-server", "generic", "posttrainllm", "omlx", "vllm-mlx", "ollama"}) {
    CHECK_FALSE_MESSAGE(named(unsafe).prompt_arrays, unsafe);
    CHECK_FALSE_MESSAGE(named(unsafe).empty_prompt, unsafe);
    CHECK_FALSE_MESSAGE(named(unsafe).logit_bias, unsafe);
  }
  CHECK(named("vllm").prompt_arrays);
}

TEST_CASE("prompt logprobs are known of the servers that return them") {
  std::set<std::string_view> scoring;
  for (const auto& one : wire::dialects()) {
    if (one.prompt_logprobs == wire::trait::yes) scoring.insert(one.name);
  }
  CHECK(scoring == std::set<std::string_view>{"posttrainllm", "vllm", "sglang"});
}

TEST_CASE("the Responses API is left alone where a server has none, or one that hides a cut answer") {
  std::set<std::string_view> without;
  for (const auto& one : wire::dialects()) {
    if (one.responses == wire::trait::no) without.insert(one.name);
  }
  CHECK(without == std::set<std::string_view>{"posttrainllm", "mlx-server", "llama-server", "abstractcore",
                                              "anthropic"});
}

TEST_CASE("a server's own words are understood behind any gateway") {
  struct words {
    const char* type;
    const char* code;
    const char* message;
    errc means;
  };
  for (const auto& one : {
           words{"exceed_context_size_error", "", "", errc::context_overflow},
           words{"", "context_length_exceeded", "", errc::context_overflow},
           words{"", "", "the input (9 tokens) is longer than the model's context length (8 tokens).",
                 errc::context_overflow},
           words{"", "", "input length (9) exceeds model's maximum context length (8).",
                 errc::context_overflow},
           words{"", "", "prompt too long: 9 tokens exceeds max context window of 8 tokens",
                 errc::context_overflow},
           words{"", "", "prompt is too long: 9 tokens > 8 maximum", errc::context_overflow},
           words{"", "", "server busy, please try again.  maximum pending requests exceeded",
                 errc::overloaded},
           words{"", "", "generation thread died", errc::backend_fault},
       }) {
    const auto* sign = wire::read_error_words(one.type, one.code, one.message);
    REQUIRE_MESSAGE(sign != nullptr, one.message);
    CHECK(sign->means == one.means);
  }
  CHECK(wire::read_error_words("invalid_request_error", "", "no such field") == nullptr);
}

TEST_CASE("a finish reason of an answer that was broken off is known, whoever says it") {
  for (const char* word : {"error", "abort", "cancelled", "timeout", "insufficient_system_resource"}) {
    CHECK_MESSAGE(wire::broke_off(word), word);
  }
  for (const char* word : {"stop", "length", "tool_calls", "content_filter", ""}) {
    CHECK_MESSAGE(!wire::broke_off(word), word);
  }
}
