#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>

using namespace evalcore;

// The texts are those of Python's json.loads(body.decode("utf-8", "replace")), with U+FFFD for each lone
// surrogate that it lets pass.

namespace {

const wire::dialect& generic() { return *wire::find_dialect("generic"); }

constexpr chat::json_damage none{};
constexpr chat::json_damage key_twice{.duplicate_key = true};
constexpr chat::json_damage bad_bytes{.invalid_utf8 = true};
constexpr chat::json_damage half_pair{.lone_surrogate = true};

/// Every way in which a text reaches a reply; `quoted` is JSON, quotes included.
struct format {
  const char* name;
  result<chat::reply> (*read)(const std::string& quoted);
};

result<chat::reply> chat_whole(const std::string& quoted) {
  return wire::decode_openai_chat(
      R"({"choices":[{"message":{"content":)" + quoted + R"(},"finish_reason":"stop"}]})", generic());
}

template <class Stream>
result<chat::reply> streamed(const std::string& bytes) {
  Stream stream(generic());
  // One byte at a time: what is damaged must not depend on how it is cut.
  for (const char byte : bytes) {
    if (auto made = stream.feed({&byte, 1}); !made) return std::move(made).error();
  }
  return stream.take();
}

result<chat::reply> chat_streamed(const std::string& quoted) {
  return streamed<wire::openai_chat_stream>(R"(data: {"choices":[{"delta":{"content":)" + quoted +
                                            R"(},"finish_reason":"stop"}]})" + "\n\n");
}

result<chat::reply> message_whole(const std::string& quoted) {
  return wire::decode_anthropic_message(
      R"({"type":"message","content":[{"type":"text","text":)" + quoted + R"(}],"stop_reason":"end_turn"})",
      generic());
}

result<chat::reply> message_streamed(const std::string& quoted) {
  return streamed<wire::anthropic_messages_stream>(
      "data: {\"type\":\"message_start\",\"message\":{}}\n\n"
      R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":)" +
      quoted + "}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
}

/// The same members, so that completions can be looked at with the others.
result<chat::reply> as_reply(result<chat::completion_reply> got) {
  if (!got) return std::move(got).error();
  chat::reply reply;
  reply.text = got->completions[0].text;
  reply.damage = got->damage;
  return reply;
}

result<chat::reply> completion_whole(const std::string& quoted) {
  return as_reply(wire::decode_openai_completion(
      R"({"choices":[{"text":)" + quoted + R"(,"finish_reason":"stop"}]})", generic()));
}

result<chat::reply> completion_streamed(const std::string& quoted) {
  wire::openai_completion_stream stream(generic());
  const auto made =
      stream.feed(R"(data: {"choices":[{"text":)" + quoted + R"(,"finish_reason":"stop"}]})" + "\n\n");
  if (!made) return made.error();
  return as_reply(stream.take());
}

const std::vector<format> formats = {{"chat", chat_whole},
                                     {"chat, streamed", chat_streamed},
                                     {"messages", message_whole},
                                     {"messages, streamed", message_streamed},
                                     {"completions", completion_whole},
                                     {"completions, streamed", completion_streamed}};

void reads(const std::string& quoted, const std::string& text, const chat::json_damage& damage) {
  for (const auto& one : formats) {
    CAPTURE(one.name);
    CAPTURE(quoted);
    const auto got = one.read(quoted);
    REQUIRE(got);
    CHECK(got->text == text);
    CHECK(got->damage == damage);
  }
}

}  // namespace

TEST_CASE("of a key that stands twice the last value counts, and the reply says so") {
  reads(R"("a")", "a", none);
  reads(R"("a","x":{"y":1,"y":2})", "a", key_twice);
  reads(R"("a","x":[[{"y":[1,{"z":1,"zz":2,"z":3}]}]])", "a", key_twice);
  CHECK(chat_whole(R"("a","content":"b")")->text == "b");
  CHECK(chat_whole(R"("a","content":"b")")->damage == key_twice);
  CHECK(message_streamed(R"("a","text":"b")")->text == "b");
  CHECK(completion_whole(R"("a","text":"b")")->damage == key_twice);
}

TEST_CASE("a key that stands twice among many is found") {
  std::string members;
  for (int i = 0; i < 100; ++i) members += ",\"k" + std::to_string(i) + "\":0";
  reads("\"a\"" + members, "a", none);
  reads("\"a\"" + members + ",\"k50\":0", "a", key_twice);
}

TEST_CASE("the same key in two objects side by side is no damage") {
  reads(R"("a","x":[{"y":1},{"y":1}],"z":{"x":1})", "a", none);
}

TEST_CASE("bytes of a text that are no UTF-8 are replaced, and the reply says so") {
  reads("\"h\xFFi\"", "h\uFFFDi", bad_bytes);
  reads("\"\xD1\"", "\uFFFD", bad_bytes);
  reads("\"\xE2\x82\"", "\uFFFD", bad_bytes);
  reads("\"\xF0\x9F\xE2\x82\xAC\"", "\uFFFD\u20AC", bad_bytes);
  reads("\"\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80\"",
        "\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\uFFFD", bad_bytes);
}

TEST_CASE("bytes outside of a text that are no UTF-8 are no JSON") {
  for (const auto& one : formats) {
    CAPTURE(one.name);
    const auto got = one.read("\"a\"\xFF");
    REQUIRE_FALSE(got);
    CHECK(got.error().code == errc::bad_reply);
  }
}

TEST_CASE("half of a surrogate pair is replaced, a whole one is a character") {
  reads(R"("\ud83d\ude00")", "\U0001F600", none);
  reads(R"("a\ud800z")", "a\uFFFDz", half_pair);
  reads(R"("\ude00")", "\uFFFD", half_pair);
  reads(R"("\ude00\ud83d")", "\uFFFD\uFFFD", half_pair);
  reads(R"("\ud83d\ud83d\ude00")", "\uFFFD\U0001F600", half_pair);
  reads(R"("\uD83Dx\u0041\n")", "\uFFFDxA\n", half_pair);
  reads(R"("\\ud800 \ud800")", "\\ud800 \uFFFD", half_pair);
  reads("\"\xFF\\ud800\"", "\uFFFD\uFFFD", {.invalid_utf8 = true, .lone_surrogate = true});
  CHECK_FALSE(chat_whole(R"("\ud800\q")"));
  CHECK_FALSE(chat_whole(R"("\ud80")"));
}

TEST_CASE("a byte order mark before an answer is skipped") {
  const auto got = wire::decode_openai_chat(
      "\xEF\xBB\xBF{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", generic());
  REQUIRE(got);
  CHECK(got->text == "a");
  CHECK(got->damage == none);
}
