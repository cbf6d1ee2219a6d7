#include <doctest/doctest.h>

#include <string>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_completions.hpp>

#include "unit/chat_bytes.hpp"

using namespace evalcore;
using namespace evalcore::test;

// Reasoning, usage and whole answers that broke some client in the field, each with the bytes of the public
// report, shrunk. tests/data/public_reports.tsv says which report each is.

TEST_CASE("reported: empty content beside reasoning is an answer, not an empty stream") {
  const auto got = read_stream(chunk(R"({"content":"","reasoning_content":"hm"})") +
                               chunk(R"({"content":""})", R"("stop")"));
  REQUIRE(got);
  CHECK(got->text.empty());
  CHECK(got->reasoning == "hm");
}

TEST_CASE("reported: reasoning in a stream is read under its newer name") {
  const auto got = read_stream(chunk(R"({"reasoning":"two "})") + chunk(R"({"reasoning":"and two"})") +
                               chunk(R"({"content":"4"})", R"("stop")"));
  REQUIRE(got);
  CHECK(got->reasoning == "two and two");
  CHECK(got->text == "4");
}

TEST_CASE("reported: reasoning in a stream is read under its older name") {
  const auto got =
      read_stream(chunk(R"({"reasoning_content":"two "})") + chunk(R"({"reasoning_content":"and two"})") +
                  chunk(R"({"content":"4"})", R"("stop")"));
  REQUIRE(got);
  CHECK(got->reasoning == "two and two");
  CHECK(got->text == "4");
}

TEST_CASE("reported: thinking that was asked for and is not there is no thinking, and no error") {
  const auto got = wire::decode_anthropic_message(
      R"({"type":"message","content":[{"type":"text","text":"4"}],"stop_reason":"end_turn"})",
      *wire::find_dialect("anthropic"));
  REQUIRE(got);
  CHECK(got->text == "4");
  CHECK(got->reasoning.empty());
  CHECK(got->thinking.empty());
}

TEST_CASE("reported: null usage in each chunk is unknown, and a late one counts") {
  const std::string text =
      event(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null})");
  const auto never = read_stream(text + std::string(done));
  REQUIRE(never);
  CHECK_FALSE(never->usage.prompt_tokens.has_value());
  CHECK_FALSE(never->usage.cached_tokens.has_value());
  const auto late = read_stream(
      text +
      event(R"({"choices":[],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}})") +
      std::string(done));
  REQUIRE(late);
  CHECK(late->usage.cached_tokens == 4);
}

TEST_CASE("reported: a prompt that the server cut shows in the tokens it reports") {
  // Of about 7,900 sent.
  const auto got = whole(
      R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2050}})");
  REQUIRE(got);
  CHECK(got->usage.prompt_tokens == 2050);
}

TEST_CASE("reported: cached tokens of a single turn are kept") {
  const auto got = whole(
      R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":80,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":64}}})");
  REQUIRE(got);
  CHECK(got->usage.cached_tokens == 64);
}

TEST_CASE("reported: a body without a byte and status 200 is no answer in any format") {
  CHECK(code_of(whole("")) == errc::bad_reply);
  CHECK(code_of(wire::decode_anthropic_message("", *wire::find_dialect("anthropic"))) == errc::bad_reply);
  const auto completion = wire::decode_openai_completion("", generic());
  REQUIRE_FALSE(completion);
  CHECK(completion.error().code == errc::bad_reply);
}
