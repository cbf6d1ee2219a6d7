#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <evalcore/wire/openai_chat.hpp>

#include "unit/capture.hpp"

using namespace evalcore;

namespace {

const wire::dialect& generic() { return *wire::find_dialect("generic"); }

errc class_of(int status, std::string_view body) {
  return wire::classify_openai_error(status, body, generic()).code;
}

struct recorded {
  const char* name;
  int status;
  errc code;
  std::string words;
};

const std::vector<recorded> refusals{
    {"llama_err_ctx_chat", 400, errc::context_overflow,
     "request (731 tokens) exceeds the available context size (512 tokens), try increasing it"},
    {"llama_err_ctx_chat_stream", 400, errc::context_overflow,
     "request (731 tokens) exceeds the available context size (512 tokens), try increasing it"},
    {"llama_err_maxtok_type", 400, errc::invalid_request,
     "Field 'max_tokens': [json.exception.type_error.302] type must be number, but is string"},
    {"llama_err_messages_type", 400, errc::invalid_request, "Expected 'messages' to be an array"},
    {"llama_err_n_gt_slots", 400, errc::invalid_request,
     "Field 'n': Value must be between 1 <= value <= 2, but got 5"},
    {"llama_err_image", 500, errc::invalid_request,
     "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"},
    {"llama_kvover_1_completions", 500, errc::overloaded, "Context size has been exceeded."},
    {"llama_tools_unauth", 401, errc::auth, "Invalid API Key"},
    {"mlxlm_canned_poison_stop_nonstring", 404, errc::backend_fault, "generation thread died"},
    {"mlxlm_err_image", 404, errc::invalid_request, "Only 'text' content type is supported."},
    {"mlxlm_err_nolen", 411, errc::invalid_request, "Content-Length header is required"},
    {"mlxlm_stream_null", 400, errc::invalid_request, "stream must be of type bool"},
};

}  // namespace

TEST_CASE("what real servers refused has its class and their words") {
  for (const auto& want : refusals) {
    CAPTURE(want.name);
    const capture one = read_capture(want.name);
    REQUIRE(one.status == want.status);
    const error got = wire::classify_openai_error(one.status, one.body, generic());
    CHECK(got.code == want.code);
    CHECK(got.backend_words == want.words);
    CHECK(got.http_status == want.status);
    CHECK(got.message.find("HTTP " + std::to_string(want.status)) != std::string::npos);
    CHECK(got.message.find(want.words) == std::string::npos);
  }
}

TEST_CASE("every recorded refusal has words and is not retried, unless the server itself is at fault") {
  int refused = 0;
  for (const auto& name : capture_names()) {
    const capture one = read_capture(name);
    if (one.status == 200) continue;
    CAPTURE(name);
    ++refused;
    const error got = wire::classify_openai_error(one.status, one.body, generic());
    CHECK_FALSE(got.backend_words.empty());
    const bool servers_fault = one.body.find("Context size has been exceeded") != std::string::npos ||
                               one.body.find("thread died") != std::string::npos;
    CHECK(retryable(got.code) == servers_fault);
  }
  CHECK(refused == 38);
}

TEST_CASE("a status without a telling body") {
  const std::vector<std::pair<int, errc>> table{
      {302, errc::invalid_request},
      {400, errc::invalid_request},
      {401, errc::auth},
      {402, errc::quota},
      {403, errc::auth},
      {404, errc::invalid_request},
      {408, errc::timeout},
      {409, errc::overloaded},
      {413, errc::invalid_request},
      {422, errc::invalid_request},
      {429, errc::rate_limited},
      {500, errc::backend_fault},
      {501, errc::unsupported},
      {502, errc::backend_fault},
      {503, errc::overloaded},
      {504, errc::backend_fault},
      {529, errc::overloaded},
  };
  for (const auto& [status, code] : table) {
    CAPTURE(status);
    CHECK(class_of(status, "") == code);
    CHECK(class_of(status, "<html>no</html>") == code);
    CHECK(class_of(status, R"({"error":{"message":"no"}})") == code);
  }
}

TEST_CASE("the body refines the status") {
  // Wordings as the servers' sources and documentation have them.
  CHECK(class_of(400,
                 R"({"error":{"message":"This model's maximum context length is 4096 tokens. However, you )"
                 R"(requested 5000 tokens","type":"BadRequestError","param":null,"code":400}})") ==
        errc::context_overflow);
  CHECK(
      class_of(400,
               R"({"error":{"message":"Input length (9000) exceeds model's maximum context length (4096).",)"
               R"("type":"BadRequestError","param":null,"code":400}})") == errc::context_overflow);
  CHECK(class_of(400,
                 R"({"object":"error","message":"The input (9000 tokens) is longer than the model's context )"
                 R"(length (4096 tokens).","type":"BadRequestError","param":null,"code":400})") ==
        errc::context_overflow);
  CHECK(class_of(400,
                 R"({"error":{"message":"Prompt too long: 9 tokens exceeds max context window of 4 tokens",)"
                 R"("type":"invalid_request_error","param":null,"code":null}})") == errc::context_overflow);
  CHECK(class_of(400, R"({"error":{"message":"x","type":"invalid_request_error","param":"messages",)"
                      R"("code":"context_length_exceeded"}})") == errc::context_overflow);
  CHECK(
      class_of(429,
               R"({"error":{"message":"You exceeded your current quota, please check your plan and billing )"
               R"(details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})") ==
      errc::quota);
  CHECK(class_of(
            429,
            R"({"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}})") ==
        errc::rate_limited);
  CHECK(class_of(
            400,
            R"({"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's )"
            R"(content management policy.","type":null,"param":"prompt","code":"content_filter"}})") ==
        errc::refused_content);
}

TEST_CASE("the backend's words are cut at 1 KiB, never inside a character") {
  // 1,023 bytes of ASCII, then a character of two bytes that would end at 1,025.
  const std::string long_words = std::string(1023, 'x') + "\xC3\xA9" + std::string(5000, 'y');
  const error got = wire::classify_openai_error(400, R"({"error":")" + long_words + R"("})", generic());
  CHECK(got.backend_words == std::string(1023, 'x'));
  const error plain = wire::classify_openai_error(500, " \n" + long_words + "\n", generic());
  CHECK(plain.backend_words == std::string(1023, 'x'));
}

TEST_CASE("an error inside a 200 is an error") {
  const auto whole = [](std::string_view body) {
    const auto got = wire::decode_openai_chat(body, generic());
    REQUIRE_FALSE(got);
    CHECK_FALSE(got.error().http_status.has_value());
    return std::pair(got.error().code, got.error().backend_words);
  };
  CHECK(whole(R"({"error":"model runner has stopped"})") ==
        std::pair(errc::backend_fault, std::string("model runner has stopped")));
  CHECK(whole(R"({"error":{"message":"busy","type":"overloaded_error"}})") ==
        std::pair(errc::overloaded, std::string("busy")));
  CHECK(whole(R"({"error":{"message":"slow down","code":429},"choices":[]})") ==
        std::pair(errc::rate_limited, std::string("slow down")));
  CHECK(whole(R"({"object":"error","message":"no","type":"BadRequestError","param":null,"code":400})") ==
        std::pair(errc::invalid_request, std::string("no")));
}
