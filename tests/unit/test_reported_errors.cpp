#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_completions.hpp>
#include <evalcore/wire/openai_responses.hpp>

#include "unit/chat_bytes.hpp"

using namespace evalcore;
using namespace evalcore::test;

// tests/data/public_reports.tsv says which public report each is.

namespace {

const wire::dialect& anthropic() { return *wire::find_dialect("anthropic"); }

template <class Stream>
errc fed(Stream&& decoder, const std::string& bytes) {
  const auto made = decoder.feed(bytes);
  REQUIRE_FALSE(made);
  return made.error().code;
}

/// The classes that one error gets on every path: as a status, in a whole answer of status 200, in a stream.
std::vector<errc> everywhere(int status, const std::string& type) {
  const std::string with_code =
      R"({"error":{"message":"no","type":")" + type + R"(","code":)" + std::to_string(status) + "}}";
  const std::string messages = R"({"type":"error","error":{"type":")" + type + R"(","message":"no"}})";
  return {
      wire::classify_openai_error(status, "", generic()).code,
      wire::classify_openai_error(status, "<html>", generic()).code,
      wire::classify_openai_error(status, with_code, generic()).code,
      wire::classify_anthropic_error(status, "", anthropic()).code,
      wire::classify_anthropic_error(status, messages, anthropic()).code,
      code_of(whole(with_code)),
      code_of(read_stream(event(with_code))),
      wire::decode_openai_completion(with_code, generic(), 1).error().code,
      fed(wire::openai_completion_stream(generic()), event(with_code)),
      wire::decode_openai_response(with_code, generic()).error().code,
      fed(wire::openai_response_stream(generic()), event(with_code)),
      wire::decode_anthropic_message(messages, anthropic()).error().code,
      fed(wire::anthropic_messages_stream(anthropic()), "event: error\n" + event(messages)),
  };
}

}  // namespace

TEST_CASE("reported: 529 is overloaded and sent again, 413 is too large and is not, on every path") {
  for (const auto code : everywhere(529, "overloaded_error")) {
    CHECK(code == errc::overloaded);
    CHECK(retryable(code));
  }
  for (const auto code : everywhere(413, "request_too_large")) {
    CHECK(code == errc::invalid_request);
    CHECK_FALSE(retryable(code));
  }
}

TEST_CASE("reported: of three choices in the order 2, 0, 1 the answer is the one of index 0") {
  const auto got = whole(R"({"choices":[)"
                         R"({"index":2,"finish_reason":"length","message":{"content":"two"}},)"
                         R"({"index":0,"finish_reason":"stop","message":{"content":"zero"}},)"
                         R"({"index":1,"finish_reason":"length","message":{"content":"one"}}]})");
  REQUIRE(got);
  CHECK(got->text == "zero");
  CHECK(got->finish == chat::finish_reason::stop);

  const auto piece = [](int index, const std::string& text) {
    return event(R"({"choices":[{"index":)" + std::to_string(index) + R"(,"delta":{"content":")" + text +
                 R"("}}]})");
  };
  const auto end = [](int index, const std::string& why) {
    return event(R"({"choices":[{"index":)" + std::to_string(index) + R"(,"delta":{},"finish_reason":")" +
                 why + R"("}]})");
  };
  const auto streamed =
      read_stream(piece(2, "tw") + piece(0, "ze") + piece(1, "on") + piece(2, "o") + piece(0, "ro") +
                  piece(1, "e") + end(2, "length") + end(0, "stop") + end(1, "length") + std::string(done));
  REQUIRE(streamed);
  CHECK(streamed->text == "zero");
  CHECK(streamed->finish == chat::finish_reason::stop);
}

TEST_CASE("reported: completions in the order 2, 0, 1 go to the prompts of their index") {
  const std::string choices =
      R"({"choices":[{"index":2,"text":"two","finish_reason":"stop"},)"
      R"({"index":0,"text":"zero","finish_reason":"stop"},{"index":1,"text":"one","finish_reason":"stop"}]})";
  wire::openai_completion_stream decoder(generic(), 3);
  REQUIRE(decoder.feed(event(choices) + std::string(done)));
  for (const auto& got : {wire::decode_openai_completion(choices, generic(), 3), decoder.take()}) {
    REQUIRE(got);
    REQUIRE(got->completions.size() == 3);
    CHECK(got->completions[0].text == "zero");
    CHECK(got->completions[1].text == "one");
    CHECK(got->completions[2].text == "two");
  }
}
