#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/wire/sse.hpp>

using evalcore::wire::sse_event;
using evalcore::wire::sse_parser;

namespace {

struct seen {
  std::vector<std::string> events;  ///< "type|data"
  std::uint64_t comments = 0;
  bool unfinished = false;
  bool failed = false;
  friend bool operator==(const seen&, const seen&) = default;
};

seen parse(const std::vector<std::string_view>& pieces, std::uint64_t limit = 1000) {
  seen out;
  sse_parser parser(limit);
  const auto keep = [&](const sse_event& one) {
    out.events.push_back(std::string(one.type) + "|" + std::string(one.data));
  };
  for (const auto piece : pieces) {
    if (!parser.feed(piece, keep)) {
      out.failed = true;
      return out;
    }
  }
  out.unfinished = parser.finish(keep);
  out.comments = parser.comments();
  return out;
}

struct framing {
  const char* what;
  std::string bytes;
  std::vector<std::string> events;
  std::uint64_t comments = 0;
  bool unfinished = false;
};

// The rules are those of the WHATWG standard, section "Interpreting an event stream"; the first three cases
// are its own examples.
const std::vector<framing> cases{
    {"several data lines are one event", "data: YHOO\ndata: +2\ndata: 10\n\n", {"|YHOO\n+2\n10"}},
    {"comment, id, no space",
     ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
     {"|first event", "|second event", "| third event"},
     1},
    {"empty data is data", "data\n\ndata\ndata\n\ndata:\n\n", {"|", "|\n", "|"}},
    {"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", {"a|1", "|2"}},
    {"CR alone", "event: a\rdata: 1\r\rdata: 2\r\r", {"a|1", "|2"}},
    {"mixed line ends", "data: 1\r\ndata: 2\rdata: 3\n\r\ndata: 4\n\n", {"|1\n2\n3", "|4"}},
    {"byte order mark",
     "\xEF\xBB\xBF"
     "data: 1\n\n",
     {"|1"}},
    {"a second mark is part of the field's name",
     "\xEF\xBB\xBF\xEF\xBB\xBF"
     "data: 1\n\ndata: 2\n\n",
     {"|2"}},
    {"colons in the value", "data: {\"a\": \"b:c\"}\n\n", {"|{\"a\": \"b:c\"}"}},
    {"unknown fields and retry", "retry: 1000\nfoo: bar\ndata: x\nDATA: y\n\n", {"|x"}},
    {"a type without data is nothing", "event: a\n\ndata: x\n\n", {"|x"}},
    {"the last type wins", "event: a\nevent: b\ndata: x\n\n", {"b|x"}},
    {"a comment inside an event", "data: a\n: keep-alive\ndata: b\n\n", {"|a\nb"}, 1},
    {"comments with blank lines dispatch nothing", ":\n\n: keepalive 1/1\n\n", {}, 2},
    {"no final blank line", "data: a\n\ndata: [DONE]\n", {"|a", "|[DONE]"}, 0, true},
    {"no final line end", "data: a\n\ndata: [DONE]", {"|a", "|[DONE]"}, 0, true},
    {"characters beyond ASCII", "data: h\xC3\xA9 \xF0\x9F\x98\x80\n\n", {"|h\xC3\xA9 \xF0\x9F\x98\x80"}},
    {"an error field is an event",
     "error: {\"code\":400}\n\ndata: [DONE]\n\n",
     {"error|{\"code\":400}", "|[DONE]"}},
};

}  // namespace

TEST_CASE("framing is the same wherever the bytes are cut in three") {
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const seen expected{one.events, one.comments, one.unfinished, false};
    const std::string_view bytes = one.bytes;
    for (std::size_t first = 0; first <= bytes.size(); ++first) {
      for (std::size_t second = first; second <= bytes.size(); ++second) {
        CAPTURE(first);
        CAPTURE(second);
        const seen got =
            parse({bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)});
        REQUIRE(got == expected);
      }
    }
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
    CHECK(parse(single) == expected);
  }
}

TEST_CASE("a line at the limit passes, one byte more is refused") {
  CHECK(parse({"data: 4567\n\n"}, 10) == seen{{"|4567"}, 0, false, false});
  CHECK(parse({"data: 45678\n\n"}, 10).failed);
  CHECK(parse({"data: ", "45678"}, 10).failed);
}

TEST_CASE("many short data lines cannot grow one event past the limit") {
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += "data: x\n";
  CHECK(parse({bytes}, 10).failed);
}

TEST_CASE("a 64 MiB line in small pieces takes linear time") {
  // Searching from the line's start for each piece would touch 512 GiB here; the test would run into its
  // time limit rather than take a fraction of a second.
  const std::size_t size = std::size_t{64} * 1024 * 1024;
  const std::string piece(4096, 'x');
  sse_parser parser(2 * size);
  std::size_t delivered = 0;
  const auto count = [&](const sse_event& one) { delivered += one.data.size(); };
  REQUIRE(parser.feed("data: ", count));
  for (std::size_t sent = 0; sent < size; sent += piece.size()) {
    REQUIRE(parser.feed(std::string_view(piece).substr(0, std::min(piece.size(), size - sent)), count));
  }
  REQUIRE(parser.feed("\n\n", count));
  CHECK(delivered == size);
}

TEST_CASE("ten thousand comments are counted and leave nothing behind") {
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += ": keep-alive\n";
  // Were they kept, the limit of 100 bytes would end the stream.
  CHECK(parse({bytes, "data: x\n\n"}, 100) == seen{{"|x"}, 10'000, false, false});
}
