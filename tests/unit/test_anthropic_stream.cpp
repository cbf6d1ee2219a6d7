#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include <evalcore/wire/anthropic_messages.hpp>

using namespace evalcore;
using finish = chat::finish_reason;

// Each case is a habit of some server in the field, reduced to the bytes that matter.

namespace {

const wire::dialect& anthropic() { return *wire::find_dialect("anthropic"); }

result<chat::reply> read_stream(std::string_view bytes, const wire::dialect& ways = anthropic()) {
  wire::anthropic_messages_stream decoder(ways);
  if (auto made = decoder.feed(bytes); !made) return std::move(made).error();
  return decoder.take();
}

result<chat::reply> whole(std::string_view body, const wire::dialect& ways = anthropic()) {
  return wire::decode_anthropic_message(body, ways);
}

std::string event(std::string_view type, std::string_view members) {
  const std::string name(type);
  return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + (members.empty() ? "" : ",") +
         std::string(members) + "}\n\n";
}

std::string start(std::string_view usage = R"({"input_tokens":5,"output_tokens":1})") {
  return event("message_start", R"("message":{"model":"m","content":[],"usage":)" + std::string(usage) + "}");
}

std::string block(int index, std::string_view members) {
  return event("content_block_start",
               "\"index\":" + std::to_string(index) + ",\"content_block\":{" + std::string(members) + "}");
}

std::string delta(int index, std::string_view members) {
  return event("content_block_delta",
               "\"index\":" + std::to_string(index) + ",\"delta\":{" + std::string(members) + "}");
}

std::string end(std::string_view reason = "end_turn", std::string_view usage = R"({"output_tokens":9})") {
  return event("message_delta", R"("delta":{"stop_reason":")" + std::string(reason) +
                                    R"(","stop_sequence":null},"usage":)" + std::string(usage)) +
         event("message_stop", "");
}

std::string text(std::string_view words) {
  return block(0, R"("type":"text","text":"")") +
         delta(0, R"("type":"text_delta","text":")" + std::string(words) + "\"");
}

errc code_of(const result<chat::reply>& got) {
  REQUIRE_FALSE(got);
  return got.error().code;
}

}  // namespace

TEST_CASE("anthropic: blocks are told apart by index, deltas may interleave") {
  const auto got =
      read_stream(start() + block(0, R"("type":"text","text":"")") +
                  block(1, R"("type":"tool_use","id":"t1","name":"f","input":{})") +
                  block(2, R"("type":"tool_use","id":"t2","name":"g","input":{})") +
                  delta(1, R"("type":"input_json_delta","partial_json":"{\"x\"")") +
                  delta(2, R"("type":"input_json_delta","partial_json":"{\"y\": 1.0}")") +
                  delta(0, R"("type":"text_delta","text":"ok")") +
                  delta(1, R"("type":"input_json_delta","partial_json":": 2}")") + end("tool_use"));
  REQUIRE(got);
  CHECK(got->text == "ok");
  CHECK(got->finish == finish::tool_calls);
  CHECK(got->finish_raw == "tool_use");
  CHECK(got->model == "m");
  REQUIRE(got->calls.size() == 2);
  CHECK(got->calls[0].id == "t1");
  CHECK(got->calls[0].arguments == R"({"x": 2})");
  CHECK(got->calls[1].name == "g");
  CHECK(got->calls[1].arguments == R"({"y": 1.0})");
}

TEST_CASE("anthropic: a call without input is a call with an empty object") {
  for (const char* members :
       {R"("type":"tool_use","id":"t","name":"f")", R"("type":"tool_use","id":"t","name":"f","input":null)",
        R"("type":"tool_use","id":"t","name":"f","input":{})"}) {
    CAPTURE(members);
    const auto got =
        read_stream(start() + block(0, members) + delta(0, R"("type":"input_json_delta","partial_json":"")") +
                    end("tool_use"));
    REQUIRE(got);
    REQUIRE(got->calls.size() == 1);
    CHECK(got->calls[0].arguments == "{}");
    const auto at_once = whole(R"({"content":[{)" + std::string(members) + R"(}],"stop_reason":"tool_use"})");
    REQUIRE(at_once);
    CHECK(at_once->calls.at(0).arguments == "{}");
  }
  // All of it in the start.
  const auto got = read_stream(
      start() + block(0, R"("type":"tool_use","id":"t","name":"f","input":{"b":1,"a":2})") + end("tool_use"));
  REQUIRE(got);
  CHECK(got->calls.at(0).arguments == R"({"b":1,"a":2})");
}

TEST_CASE("anthropic: thinking comes with its signature, redacted thinking as data") {
  const auto got = read_stream(start() + block(0, R"("type":"thinking","thinking":"","signature":"")") +
                               delta(0, R"("type":"thinking_delta","thinking":"two ")") +
                               delta(0, R"("type":"thinking_delta","thinking":"and two")") +
                               delta(0, R"("type":"signature_delta","signature":"c2ln")") +
                               block(1, R"("type":"redacted_thinking","data":"ZGF0YQ==")") +
                               block(2, R"("type":"text","text":"4")") + end());
  REQUIRE(got);
  CHECK(got->reasoning == "two and two");
  CHECK(got->text == "4");
  REQUIRE(got->thinking.size() == 2);
  CHECK(got->thinking[0].text == "two and two");
  CHECK(got->thinking[0].signature == "c2ln");
  CHECK(got->thinking[1].redacted == "ZGF0YQ==");
  // Asked for and lost on the way: there is none.
  CHECK(read_stream(start() + text("4") + end())->thinking.empty());
  CHECK(read_stream(start() + block(0, R"("type":"thinking","thinking":"")") + end())->thinking.empty());
}

TEST_CASE("anthropic: pings, unknown events, blocks and deltas change nothing") {
  const auto got = read_stream(
      event("ping", "") + start() + event("ping", "") + event("vendor_note", R"("x":[1])") +
      block(0, R"("type":"server_tool_use","id":"s","name":"web_search","input":{})") +
      delta(0, R"("type":"input_json_delta","partial_json":"{\"query\":\"q\"}")") +
      block(1, R"("type":"text","text":"")") + delta(1, R"("type":"citations_delta","citation":{})") +
      delta(1, R"("type":"text_delta","text":"a")") + delta(1, R"("type":"sparkle_delta","text":"b")") +
      event("content_block_stop", "\"index\":1") + end() + "data: [DONE]\n\n");
  REQUIRE(got);
  CHECK(got->text == "a");
  CHECK(got->calls.empty());
}

TEST_CASE("anthropic: message_stop alone proves the end") {
  const std::string message = start() + text("a");
  const std::string delta_only =
      event("message_delta", R"("delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2})");
  CHECK(code_of(read_stream("")) == errc::truncated);
  CHECK(code_of(read_stream(message)) == errc::truncated);
  CHECK(code_of(read_stream(message + delta_only)) == errc::truncated);
  CHECK(code_of(read_stream(message + delta_only + "data: [DONE]\n\n")) == errc::truncated);
  CHECK(code_of(read_stream(message + delta_only + "event: message_stop\n\n")) == errc::truncated);
  CHECK(read_stream(message + delta_only + event("message_stop", "")));
  // Its blank line may be missing; a second half is no event.
  CHECK(read_stream(message + delta_only + "data: {\"type\":\"message_stop\"}"));
  CHECK(code_of(read_stream(message + delta_only + "data: {\"type\":\"message_st")) == errc::truncated);
  CHECK(code_of(read_stream(event("message_stop", ""))) == errc::bad_reply);
}

TEST_CASE("anthropic: each stop reason has its class, and its own word is kept") {
  const auto reason = [](std::string_view word) {
    const auto got = read_stream(start() + text("a") + end(word));
    REQUIRE(got);
    CHECK(got->finish_raw == word);
    return got->finish;
  };
  CHECK(reason("end_turn") == finish::stop);
  CHECK(reason("stop_sequence") == finish::stop);
  CHECK(reason("max_tokens") == finish::length);
  CHECK(reason("model_context_window_exceeded") == finish::length);
  CHECK(reason("tool_use") == finish::tool_calls);
  CHECK(reason("refusal") == finish::content_filter);
  CHECK(reason("pause_turn") == finish::other);
  const auto stopped = whole(R"({"content":[],"stop_reason":"stop_sequence","stop_sequence":"\n\n"})");
  REQUIRE(stopped);
  CHECK(stopped->stop_string == "\n\n");
  CHECK(stopped->text.empty());
}

TEST_CASE("anthropic: a refusal and its details on the last delta are both in the reply") {
  const auto refused = [](std::string_view details) {
    const auto got =
        read_stream(start() +
                    event("message_delta", R"("delta":{"stop_reason":"refusal","stop_details":)" +
                                               std::string(details) + "}") +
                    event("message_stop", ""));
    REQUIRE(got);
    CHECK(got->finish == finish::content_filter);
    return got->refusal;
  };
  CHECK(refused(R"({"type":"refusal","category":"bio","explanation":"It could do harm."})") ==
        "It could do harm.");
  CHECK(refused(R"({"type":"refusal","category":"bio","explanation":null})") == "bio");
  CHECK(refused("null").empty());
}

TEST_CASE("anthropic: the prompt is input, cache reads and cache writes together; absent is not 0") {
  const auto usage = [](std::string_view counts, const wire::dialect& ways = anthropic()) {
    const auto got = whole(R"({"content":[],"usage":)" + std::string(counts) + "}", ways);
    REQUIRE(got);
    return got->usage;
  };
  const auto all = usage(
      R"({"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":500,"output_tokens":7,)"
      R"("output_tokens_details":{"thinking_tokens":2}})");
  CHECK(all.prompt_tokens == 543);
  CHECK(all.cached_tokens == 40);
  CHECK(all.cache_write_tokens == 500);
  CHECK(all.completion_tokens == 7);
  CHECK(all.reasoning_tokens == 2);

  const auto silent = usage(R"({"input_tokens":3,"output_tokens":7})");
  CHECK(silent.prompt_tokens == 3);
  CHECK(silent.cached_tokens == std::nullopt);
  CHECK(silent.cache_write_tokens == std::nullopt);
  CHECK(usage(R"({"input_tokens":3,"cache_read_input_tokens":null})").cached_tokens == std::nullopt);
  CHECK(usage(R"({"input_tokens":3,"cache_read_input_tokens":0})").cached_tokens == 0);
  CHECK(usage("null").prompt_tokens == std::nullopt);
  CHECK(usage(R"({"cache_read_input_tokens":4})").prompt_tokens == std::nullopt);

  // Some server counts the cached ones twice: its input is the whole prompt.
  auto doubling = anthropic();
  doubling.messages_count_cached = true;
  const auto once =
      usage(R"({"input_tokens":44,"cache_read_input_tokens":40,"cache_creation_input_tokens":4})", doubling);
  CHECK(once.prompt_tokens == 44);
  CHECK(once.cached_tokens == 40);
}

TEST_CASE("anthropic: of counts that a stream tells more than once the largest stands") {
  const auto got =
      read_stream(start(R"({"input_tokens":0,"cache_read_input_tokens":30,"output_tokens":1})") + text("a") +
                  end("end_turn", R"({"input_tokens":12,"cache_read_input_tokens":0,"output_tokens":9})"));
  REQUIRE(got);
  CHECK(got->usage.prompt_tokens == 42);
  CHECK(got->usage.cached_tokens == 30);
  CHECK(got->usage.completion_tokens == 9);
}

TEST_CASE("anthropic: the first token is text, thinking or a call, nothing else") {
  wire::anthropic_messages_stream decoder(anthropic());
  for (const std::string& quiet :
       {event("ping", ""), start(), block(0, R"("type":"text","text":"")"), std::string(": ping\n\n"),
        delta(0, R"("type":"text_delta","text":"")"), block(1, R"("type":"thinking","thinking":"")"),
        delta(1, R"("type":"signature_delta","signature":"s")"),
        event("content_block_stop", "\"index\":0")}) {
    const auto made = decoder.feed(quiet);
    REQUIRE(made);
    CHECK_FALSE(made->content);
  }
  CHECK(decoder.comments() == 2);
  CHECK(decoder.feed(delta(1, R"("type":"thinking_delta","thinking":"h")"))->content);
  CHECK(decoder.feed(block(2, R"("type":"tool_use","id":"t","name":"f")"))->content);
  const auto made = decoder.feed(delta(0, R"("type":"text_delta","text":"a")") +
                                 delta(0, R"("type":"text_delta","text":"b")"));
  CHECK(made->content);
  CHECK(made->text == "ab");
}

TEST_CASE("anthropic: deltas that do not fit what they are added to are no protocol") {
  CHECK(code_of(read_stream(start() + "data: not json\n\n")) == errc::bad_reply);
  CHECK(code_of(read_stream(start() + event("content_block_delta", "\"index\":0"))) == errc::bad_reply);
  CHECK(code_of(read_stream(start() + event("content_block_start", "\"index\":0"))) == errc::bad_reply);
  CHECK(code_of(read_stream(start() + block(0, R"("type":"text","text":"")") +
                            delta(0, R"("type":"input_json_delta","partial_json":"{}")"))) ==
        errc::bad_reply);
  CHECK(code_of(read_stream(start() + block(0, R"("type":"tool_use","name":"f")") +
                            delta(0, R"("type":"text_delta","text":"a")"))) == errc::bad_reply);
  // Begun by its delta alone, it is what the delta says.
  CHECK(read_stream(start() + delta(0, R"("type":"text_delta","text":"a")") + end())->text == "a");
}

TEST_CASE("anthropic: a body kept alive with blanks is read; several texts are one") {
  const auto got = whole(
      "   \n"
      R"({"type":"message","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],)"
      R"("stop_reason":"end_turn","model":"m"})");
  REQUIRE(got);
  CHECK(got->text == "ab");
  CHECK(got->model == "m");
}

TEST_CASE("anthropic: a stop reason that means failure is no answer") {
  for (const std::string_view reason : {"error", "abort", "aborted", "cancelled"}) {
    CAPTURE(reason);
    CHECK(code_of(read_stream(start() + text("a") + end(reason))) == errc::backend_fault);
    CHECK(code_of(whole(R"({"content":[{"type":"text","text":"a"}],"stop_reason":")" + std::string(reason) +
                        "\"}")) == errc::backend_fault);
  }
}

TEST_CASE("anthropic: text that is no text is no answer, absent text is none") {
  CHECK(code_of(whole(R"({"content":[{"type":"text","text":5}],"stop_reason":"end_turn"})")) ==
        errc::bad_reply);
  CHECK(code_of(read_stream(start() + block(0, R"("type":"text","text":5)") + end())) == errc::bad_reply);
  CHECK(code_of(read_stream(start() + block(0, R"("type":"text","text":"")") +
                            delta(0, R"("type":"text_delta","text":5)") + end())) == errc::bad_reply);
  const auto got =
      read_stream(start() + block(0, R"("type":"text")") + delta(0, R"("type":"text_delta","text":null)") +
                  delta(0, R"("type":"text_delta","text":"a")") + end());
  REQUIRE(got);
  CHECK(got->text == "a");
}

TEST_CASE("anthropic: a call without a name is no call") {
  for (const std::string call :
       {R"("type":"tool_use","id":"a","input":{})", R"("type":"tool_use","id":"a","name":"","input":{})",
        R"("type":"tool_use","id":"a","name":5,"input":{})"}) {
    CAPTURE(call);
    CHECK(code_of(whole("{\"content\":[{" + call + "}],\"stop_reason\":\"tool_use\"}")) == errc::bad_reply);
    CHECK(code_of(read_stream(start() + block(0, call) + end("tool_use"))) == errc::bad_reply);
  }
}
