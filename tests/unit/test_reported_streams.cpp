#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "unit/chat_bytes.hpp"

using namespace evalcore;
using namespace evalcore::test;

// Streams that broke some client in the field, each with the bytes of the public report, shrunk.
// tests/data/public_reports.tsv says which report each is.

namespace {

const std::string stop = chunk("{}", R"("stop")");

/// The reply, whatever the bytes are cut into.
result<chat::reply> in_pieces_of(std::size_t size, std::string_view bytes) {
  wire::openai_chat_stream decoder(generic());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
    if (auto made = decoder.feed(bytes.substr(0, size)); !made) return std::move(made).error();
  }
  return decoder.take();
}

}  // namespace

TEST_CASE("reported: an error in a field of its own, with status 200, is that error and no empty answer") {
  const auto got = read_stream(
      "error: {\"code\":400,\"message\":\"the request exceeds the available context size\","
      "\"type\":\"invalid_request_error\"}\n\ndata: [DONE]\n\n");
  CHECK(code_of(got) == errc::context_overflow);
  CHECK(got.error().backend_words == "the request exceeds the available context size");
}

TEST_CASE("reported: two events in one network read are two, after a role with null content") {
  wire::openai_chat_stream decoder(generic());
  const auto made = decoder.feed(chunk(R"({"role":"assistant","content":null})") +
                                 chunk(R"({"content":"a"})") + chunk(R"({"content":"b"})"));
  REQUIRE(made);
  CHECK(made->text == "ab");
}

TEST_CASE("reported: a character cut between two network reads is whole") {
  wire::openai_chat_stream decoder(generic());
  REQUIRE(decoder.feed("data: {\"choices\":[{\"delta\":{\"content\":\"\xD1"));
  REQUIRE(decoder.feed("\x8C\"},\"finish_reason\":\"stop\"}]}\n\n"));
  const auto got = decoder.take();
  REQUIRE(got);
  CHECK(got->text == "\u044C");
  CHECK(got->damage == chat::json_damage{});
}

TEST_CASE("reported: a character cut at 64 KiB is whole") {
  constexpr std::size_t read_size = std::size_t{64} * 1024;
  const std::string head = R"(data: {"choices":[{"delta":{"content":")";
  const std::string text = std::string(read_size - head.size() - 1, 'x') + "\u6F22";
  const auto got = in_pieces_of(read_size, head + text + "\"},\"finish_reason\":\"stop\"}]}\n\n");
  REQUIRE(got);
  CHECK(got->text == text);
}

TEST_CASE("reported: one byte in each chunk of HTTP leaves the text as it was") {
  const std::string text = "na\u00EFve \u6F22\u5B57 \U0001F600";
  const auto got = in_pieces_of(1, chunk(R"({"content":")" + text + R"("})") + stop + std::string(done));
  REQUIRE(got);
  CHECK(got->text == text);
}

TEST_CASE("reported: characters of two to four bytes are whole wherever they are cut") {
  for (const std::string text : {"\u00DF", "\u266C", "\u6F22", "\U0001F600"}) {
    const std::string bytes = chunk(R"({"content":")" + text + R"("})") + stop;
    const std::size_t begins = bytes.find(text);
    for (std::size_t cut = begins; cut <= begins + text.size(); ++cut) {
      wire::openai_chat_stream decoder(generic());
      REQUIRE(decoder.feed(std::string_view(bytes).substr(0, cut)));
      REQUIRE(decoder.feed(std::string_view(bytes).substr(cut)));
      CHECK(decoder.take()->text == text);
    }
  }
}

TEST_CASE("reported: a stream without one event, and one of [DONE] alone, are no empty answer") {
  CHECK(code_of(read_stream("")) == errc::truncated);
  CHECK(code_of(read_stream(done)) == errc::bad_reply);
}

TEST_CASE("reported: where all comes in one chunk at the end, the role before it is no first token") {
  wire::openai_chat_stream decoder(generic());
  CHECK_FALSE(decoder.feed(chunk(R"({"role":"assistant"})"))->content);
  CHECK_FALSE(decoder.feed(": keepalive\n\n")->content);
  const auto made = decoder.feed(chunk(
      R"({"content":"ok","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})",
      R"("tool_calls")"));
  CHECK(made->content);
  CHECK(made->text == "ok");
  CHECK(calls_in(decoder.take()) == call_list{{"a", "f", "{}"}});
}

TEST_CASE("reported: an empty finish reason is none") {
  const std::string text = chunk(R"({"content":"a"})", R"("")") + chunk(R"({"content":"b"})", R"("")");
  CHECK(code_of(read_stream(text)) == errc::truncated);
  const auto got = read_stream(text + chunk("{}", R"("length")"));
  REQUIRE(got);
  CHECK(got->text == "ab");
  CHECK(got->finish == chat::finish_reason::length);
}

TEST_CASE("reported: a finish reason that comes twice, or for another choice, changes nothing") {
  const auto got =
      read_stream(chunk(R"({"content":"a"})") +
                  event(R"({"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]})") +
                  chunk("{}", R"("stop")") + chunk("{}", R"("length")") + std::string(done));
  REQUIRE(got);
  CHECK(got->text == "a");
  CHECK(got->finish == chat::finish_reason::stop);
}

TEST_CASE("reported: null role and null content until the reasoning ends are neither text nor token") {
  wire::openai_chat_stream decoder(generic());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(decoder.feed(chunk(R"({"role":null,"content":null})"))->content);
  REQUIRE(decoder.feed(chunk(R"({"role":null,"content":"4"})", R"("stop")")));
  CHECK(decoder.take()->text == "4");
}

TEST_CASE("reported: empty deltas while a call is being made are no token") {
  wire::openai_chat_stream decoder(generic());
  const auto made = decoder.feed(
      event(R"({"choices":[{"index":0,"delta":{},"tool_call_generating":true,"finish_reason":null}]})"));
  REQUIRE(made);
  CHECK_FALSE(made->content);
  REQUIRE(decoder.feed(stop));
  CHECK(decoder.take()->calls.empty());
}

TEST_CASE("reported: a stream that stops without text or call is an empty answer that says so") {
  const auto got = read_stream(chunk(R"({"role":"assistant"})") + stop + std::string(done));
  REQUIRE(got);
  CHECK(got->text.empty());
  CHECK(got->calls.empty());
  CHECK(got->finish_raw == "stop");
}

TEST_CASE("reported: data without a space after the colon, and an end without [DONE]") {
  const auto got =
      read_stream("data:{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
  REQUIRE(got);
  CHECK(got->text == "a");
}

TEST_CASE("reported: [DONE] without a blank line after it, and null content is no text") {
  const auto got = read_stream(chunk(R"({"role":"assistant","content":null})") + chunk(R"({"content":"a"})") +
                               "data: [DONE]");
  REQUIRE(got);
  CHECK(got->text == "a");
}

TEST_CASE("reported: an error event after text is an error, not a short answer") {
  const auto got = read_stream(chunk(R"({"content":"a"})") +
                               event(R"({"error":{"message":"out of memory","type":"server_error"}})") +
                               std::string(done));
  CHECK(code_of(got) == errc::backend_fault);
  CHECK(got.error().backend_words == "out of memory");
}

TEST_CASE("reported: a stream that ends amid a call's arguments is truncated, and no call") {
  CHECK(
      code_of(read_stream(chunk(
          R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"path\":\"/tm"}}]})"))) ==
      errc::truncated);
}

TEST_CASE("reported: a comment and a blank line are no event") {
  wire::openai_chat_stream decoder(generic());
  const auto made = decoder.feed(": keepalive\n\n: keepalive\n\n");
  REQUIRE(made);
  CHECK_FALSE(made->content);
  CHECK(decoder.comments() == 2);
  REQUIRE(decoder.feed(chunk(R"({"content":"a"})", R"("stop")")));
  CHECK(decoder.take()->text == "a");
}

TEST_CASE("reported: fields before the data, JSON over two data lines and no last blank line are read") {
  const auto got = read_stream(
      "id: 1\nevent: message\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\n"
      "data: \"finish_reason\":\"stop\"}]}");
  REQUIRE(got);
  CHECK(got->text == "a");
  // Half of it is not passed over.
  CHECK(
      code_of(read_stream("id: 1\nevent: message\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\n")) ==
      errc::truncated);
}

TEST_CASE("reported: the last text in the chunk with the finish reason is kept") {
  const auto got = read_stream(chunk(R"({"content":"Hi"})") + chunk(R"({"content":" !"})", R"("length")"));
  REQUIRE(got);
  CHECK(got->text == "Hi !");
  CHECK(got->finish == chat::finish_reason::length);
}
