#include <doctest/doctest.h>

#include <string>

#include <evalcore/wire/anthropic_messages.hpp>

using namespace evalcore;

namespace {

const wire::dialect& anthropic() { return *wire::find_dialect("anthropic"); }

std::string body(const std::string& type, const std::string& message) {
  return R"({"type":"error","error":{"type":")" + type + R"(","message":")" + message +
         R"("},"request_id":"req_1"})";
}

errc code_of(int status, const std::string& type, const std::string& message = "x") {
  const auto got = wire::classify_anthropic_error(status, body(type, message), anthropic());
  CHECK(got.http_status == status);
  CHECK(got.backend_words == message);
  return got.code;
}

errc inside_stream(const std::string& event) {
  wire::anthropic_messages_stream decoder(anthropic());
  const auto made =
      decoder.feed("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n" + event);
  REQUIRE_FALSE(made);
  // Spent: what follows changes nothing.
  CHECK_FALSE(decoder.feed("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
  const auto reply = decoder.take();
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == made.error().code);
  return made.error().code;
}

}  // namespace

TEST_CASE("anthropic: each status and type has its class") {
  CHECK(code_of(400, "invalid_request_error") == errc::invalid_request);
  CHECK(code_of(401, "authentication_error") == errc::auth);
  CHECK(code_of(402, "billing_error") == errc::quota);
  CHECK(code_of(403, "permission_error") == errc::auth);
  CHECK(code_of(404, "not_found_error") == errc::invalid_request);
  CHECK(code_of(413, "request_too_large") == errc::invalid_request);
  CHECK(code_of(429, "rate_limit_error") == errc::rate_limited);
  CHECK(code_of(500, "api_error") == errc::backend_fault);
  CHECK(code_of(504, "timeout_error") == errc::backend_fault);
  CHECK(code_of(529, "overloaded_error") == errc::overloaded);
}

TEST_CASE("anthropic: a prompt that is too long is an overflow, a field too many is a bad request") {
  CHECK(code_of(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum") ==
        errc::context_overflow);
  CHECK(code_of(400, "invalid_request_error", "temperature: Extra inputs are not permitted") ==
        errc::invalid_request);
}

TEST_CASE("anthropic: an error inside a 200 stream has its own class") {
  CHECK(inside_stream("event: error\ndata: " + body("overloaded_error", "Overloaded") + "\n\n") ==
        errc::overloaded);
  CHECK(inside_stream("event: error\ndata: " + body("rate_limit_error", "x") + "\n\n") == errc::rate_limited);
  CHECK(inside_stream("event: error\ndata: " + body("api_error", "x") + "\n\n") == errc::backend_fault);
  // Without the event's name, and without the envelope.
  CHECK(inside_stream("data: " + body("overloaded_error", "Overloaded") + "\n\n") == errc::overloaded);
  CHECK(inside_stream(
            "event: error\ndata: {\"code\":503,\"message\":\"x\",\"type\":\"unavailable_error\"}\n\n") ==
        errc::overloaded);
  CHECK(inside_stream("event: error\ndata: not json\n\n") == errc::backend_fault);
}

TEST_CASE("anthropic: an error object that came with status 200 is an error") {
  const auto got = wire::decode_anthropic_message(body("overloaded_error", "Overloaded"), anthropic());
  REQUIRE_FALSE(got);
  CHECK(got.error().code == errc::overloaded);
  CHECK(got.error().backend_words == "Overloaded");
}

TEST_CASE("anthropic: what is no message is no answer") {
  for (const char* text : {"", "  ", "Not Found", "[]", "{}", R"({"type":"message"})",
                           R"({"content":"text"})", R"({"content":null})", R"({"content":[1]})",
                           R"({"content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]})",
                           R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})"}) {
    CAPTURE(text);
    const auto got = wire::decode_anthropic_message(text, anthropic());
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::bad_reply);
  }
}

TEST_CASE("anthropic: an error that does not explain itself is none the less no answer") {
  const auto got = wire::decode_anthropic_message(
      R"({"type":"error","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"})", anthropic());
  REQUIRE_FALSE(got);
  CHECK(got.error().code == errc::backend_fault);
}
