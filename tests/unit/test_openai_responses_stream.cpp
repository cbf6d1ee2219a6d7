#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "unit/capture.hpp"
#include "unit/responses_data.hpp"

using namespace evalcore;

namespace {

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

errc code(const result<chat::reply>& got) {
  REQUIRE_FALSE(got);
  CHECK_FALSE(got.error().message.empty());
  return got.error().code;
}

/// All that a reply says, in one text.
std::string seen(const chat::reply& reply) {
  std::string out = reply.text + "\x1e" + reply.reasoning + "\x1e" + reply.refusal + "\x1e" + reply.model +
                    "\x1e" + reply.finish_raw + "\x1e" + std::string(chat::name(reply.finish));
  for (const auto& one : reply.calls) out += "\x1e" + one.id + "|" + one.name + "|" + one.arguments;
  for (const auto& one : reply.thinking) out += "\x1e" + one.id + "|" + one.text + "|" + one.signature;
  for (const auto& one : reply.logprobs) {
    out += "\x1e" + one.token + "|" + one.bytes.value_or("-") + "|" + std::to_string(*one.logprob) + "|" +
           std::to_string(one.top.size());
  }
  for (const auto& count : {reply.usage.prompt_tokens, reply.usage.cached_tokens,
                            reply.usage.completion_tokens, reply.usage.reasoning_tokens}) {
    out += "\x1e" + (count ? std::to_string(*count) : "unknown");
  }
  return out;
}

constexpr std::string_view added =
    R"({"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","content":[]}})";
constexpr std::string_view ended = R"({"type":"response.completed","response":{"status":"completed"}})";

std::string delta(const std::string& text) {
  return event(R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":")" + text +
               "\"}");
}

/// The text of the event of the end is taken out, so that only what was streamed is left.
std::string without_final_output(std::string stream) {
  const std::size_t end = stream.rfind("event: response.");
  const std::size_t output = stream.find("\"output\":[", end);
  stream.insert(output + 10, "],\"was\":[");
  return stream;
}

}  // namespace

TEST_CASE("responses stream: the same reply as the whole answer, however it is cut") {
  for (const char* name : {"openai_text", "openai_calls", "openai_refusal", "openai_length",
                           "openai_length_in_reasoning", "openai_filter", "open_model_reasoning"}) {
    CAPTURE(name);
    const auto whole = wire::decode_openai_response(responses_data(std::string(name) + ".json"),
                                                    *wire::find_dialect("openai"));
    REQUIRE(whole);
    const std::string stream = responses_data(std::string(name) + ".sse");
    for (const std::size_t piece : {0UL, 1UL, 7UL, 100UL}) {
      const auto got = stream_response(stream, "openai", piece);
      REQUIRE(got);
      CHECK(seen(*got) == seen(*whole));
    }
  }
}

TEST_CASE("responses stream: an end without output stands for what came before it") {
  for (const char* name : {"openai_text", "openai_calls", "openai_refusal", "openai_length",
                           "openai_length_in_reasoning", "openai_filter", "open_model_reasoning"}) {
    CAPTURE(name);
    const std::string stream = responses_data(std::string(name) + ".sse");
    const std::string bare = without_final_output(stream);
    REQUIRE(bare != stream);
    const auto with = stream_response(stream);
    const auto without = stream_response(bare);
    REQUIRE(with);
    REQUIRE(without);
    CHECK(seen(*without) == seen(*with));
  }
}

TEST_CASE("responses stream: deltas alone add up to the answer") {
  std::string only_deltas;
  const std::string stream = without_final_output(responses_data("openai_calls.sse"));
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t next = stream.find("\n\n", at) + 2;
    const std::string one = stream.substr(at, next - at);
    if (one.find(".done\n") == std::string::npos) only_deltas += one;
    at = next;
  }
  REQUIRE(only_deltas.size() < stream.size());
  const auto whole = stream_response(stream);
  const auto got = stream_response(only_deltas);
  REQUIRE(whole);
  REQUIRE(got);
  CHECK(seen(*got) == seen(*whole));
}

TEST_CASE("responses stream: a piece tells its text, and the first token") {
  wire::openai_response_stream decoder(*wire::find_dialect("openai"));
  auto made = decoder.feed(event(std::string(added)) + ": ping\n\n");
  REQUIRE(made);
  CHECK_FALSE(made->content);
  CHECK(decoder.comments() == 1);
  made = decoder.feed(delta("Hel") + delta("lo"));
  REQUIRE(made);
  CHECK(made->content);
  CHECK(made->text == "Hello");
  // Reasoning and calls are content without text.
  for (
      const char* other :
      {R"({"type":"response.reasoning_summary_text.delta","output_index":1,"summary_index":0,"delta":"a"})",
       R"({"type":"response.reasoning_text.delta","output_index":2,"content_index":0,"delta":"a"})",
       R"({"type":"response.function_call_arguments.delta","output_index":3,"delta":"{"})",
       R"({"type":"response.output_item.added","output_index":4,"item":{"type":"function_call","name":"f"}})"}) {
    made = decoder.feed(event(other));
    REQUIRE_MESSAGE(made, other);
    CHECK_MESSAGE(made->content, other);
    CHECK(made->text.empty());
  }
}

TEST_CASE("responses stream: a text that comes only at its end is still told") {
  wire::openai_response_stream decoder(*wire::find_dialect("openai"));
  REQUIRE(decoder.feed(event(std::string(added))));
  const auto made = decoder.feed(
      event(R"({"type":"response.output_text.done","output_index":0,"content_index":0,"text":"all"})"));
  REQUIRE(made);
  CHECK(made->text == "all");
  REQUIRE(decoder.feed(event(std::string(ended))));
  const auto reply = decoder.take();
  REQUIRE(reply);
  CHECK(reply->text == "all");
}

TEST_CASE("responses stream: only a final event proves the end") {
  const std::string begun = event(std::string(added)) + delta("a");
  CHECK(code(stream_response("")) == errc::truncated);
  CHECK(code(stream_response(begun)) == errc::truncated);
  CHECK(code(stream_response(begun + event("[DONE]"))) == errc::truncated);
  CHECK(code(stream_response(begun +
                             event(R"({"type":"response.output_text.done","output_index":0,"text":"a"})"))) ==
        errc::truncated);
  const auto got = stream_response(begun + event(std::string(ended)) + event("[DONE]") + event("rubbish"));
  REQUIRE(got);
  CHECK(got->text == "a");
  // The last event may lack its blank line.
  CHECK(stream_response(begun + "data: " + std::string(ended)));
  CHECK(stream_response(begun + "data: " + std::string(ended) + "\n"));
  const std::string whole = responses_data("openai_calls.sse");
  for (std::size_t cut = 0; cut < whole.rfind("data: "); cut += 37) {
    CHECK(code(stream_response(std::string_view(whole).substr(0, cut))) == errc::truncated);
  }
}

TEST_CASE("responses stream: a failure is that failure, however far the answer came") {
  CHECK(code(stream_response(responses_data("openai_failed.sse"))) == errc::backend_fault);
  CHECK(code(stream_response(responses_data("openai_failed_limit.sse"))) == errc::rate_limited);
  CHECK(code(stream_response(responses_data("openai_failed_prompt.sse"))) == errc::invalid_request);
  const std::string begun = event(std::string(added)) + delta("a");
  const auto flat =
      stream_response(begun + event(R"({"type":"error","code":"rate_limit_exceeded","message":"slow"})"));
  CHECK(code(flat) == errc::rate_limited);
  CHECK(flat.error().backend_words == "slow");
  CHECK(code(stream_response(begun + "event: error\ndata: {\"message\":\"x\",\"code\":503}\n\n")) ==
        errc::overloaded);
  CHECK(code(stream_response(begun + event(R"({"error":{"message":"x","code":401}})"))) == errc::auth);
  CHECK(code(stream_response(begun + event(R"({"type":"response.failed","response":{}})"))) ==
        errc::backend_fault);
  // The event counts, whatever the response says of itself.
  CHECK(code(stream_response(begun +
                             event(R"({"type":"response.failed","response":{"status":"completed"}})"))) ==
        errc::backend_fault);
}

TEST_CASE("responses stream: what is not the protocol") {
  const std::string begun = event(std::string(added)) + delta("a");
  CHECK(code(stream_response(begun + event("{"))) == errc::bad_reply);
  CHECK(code(stream_response(begun + event(R"({"type":"response.completed"})"))) == errc::bad_reply);
  CHECK(code(stream_response(
            begun +
            event(R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"{"})"))) ==
        errc::bad_reply);
  CHECK(code(stream_response(
            begun + event(R"({"type":"response.completed","response":{"status":"in_progress"}})"))) ==
        errc::bad_reply);
  // Spent after an error.
  wire::openai_response_stream decoder(*wire::find_dialect("openai"));
  CHECK_FALSE(decoder.feed(event("{")));
  CHECK_FALSE(decoder.feed(event(std::string(ended))));
  CHECK(code(decoder.take()) == errc::bad_reply);
}

TEST_CASE("responses stream: events of other kinds, and indices out of all reason, do no harm") {
  const std::string odd =
      event(R"({"type":"response.novelty","delta":"x"})") + event("{}") + event(R"({"type":"keepalive"})") +
      event(R"({"type":"response.output_item.added","output_index":0,"item":null})") +
      event(R"({"type":"response.output_item.added","output_index":7,"item":{"type":"web_search_call"}})") +
      event(R"({"type":"response.output_text.delta","output_index":7,"content_index":0,"delta":"no"})") +
      event(
          R"({"type":"response.output_text.delta","output_index":9223372036854775807,"content_index":9223372036854775807,"delta":"b"})") +
      event(R"({"type":"response.output_text.delta","output_index":-5,"content_index":-1,"delta":"a"})");
  const auto got = stream_response(odd + event(std::string(ended)));
  REQUIRE(got);
  CHECK(got->text == "ab");
}

TEST_CASE("responses stream: a real server that names no indices") {
  for (const char* name : {"text", "length", "think", "emoji", "tool", "mixed"}) {
    CAPTURE(name);
    const auto streamed = read_capture(std::string("../responses/llama_") + name + "_stream");
    const auto once = read_capture(std::string("../responses/llama_") + name);
    REQUIRE(streamed.streamed);
    const auto whole = wire::decode_openai_response(once.body, *wire::find_dialect("generic"));
    REQUIRE(whole);
    const auto bare = without_final_output(streamed.body);
    for (const auto& bytes : {streamed.body, bare}) {
      for (const std::size_t piece : {0UL, 1UL, 5UL}) {
        const auto got = stream_response(bytes, "generic", piece);
        REQUIRE(got);
        CHECK(got->text == whole->text);
        CHECK(got->finish == whole->finish);
        CHECK(got->usage.prompt_tokens == whole->usage.prompt_tokens);
        CHECK(got->usage.completion_tokens == whole->usage.completion_tokens);
        REQUIRE(got->calls.size() == whole->calls.size());
        for (std::size_t at = 0; at < whole->calls.size(); ++at) {
          CHECK(got->calls[at].name == whole->calls[at].name);
          CHECK(got->calls[at].arguments == whole->calls[at].arguments);
        }
      }
    }
  }
}

TEST_CASE("responses stream: an end with nothing before it and nothing in it is no answer") {
  CHECK(code(stream_response(event(R"({"type":"response.completed","response":{}})"))) == errc::bad_reply);
}

TEST_CASE("responses stream: an answer announced as incomplete is not complete") {
  const auto got = stream_response(
      event(std::string(added)) + delta("a") +
      event(
          R"({"type":"response.incomplete","response":{"status":"completed","incomplete_details":{"reason":"max_output_tokens"}}})"));
  REQUIRE(got);
  CHECK(got->finish == chat::finish_reason::length);
}

TEST_CASE("responses stream: two items at one place, or a call without a name, are no answer") {
  const std::string begun = event(std::string(added));
  CHECK(code(stream_response(begun + begun + event(std::string(ended)))) == errc::bad_reply);
  CHECK(
      code(stream_response(
          event(R"({"type":"response.output_item.added","output_index":0,"item":{"type":"function_call"}})") +
          event(std::string(ended)))) == errc::bad_reply);
}
