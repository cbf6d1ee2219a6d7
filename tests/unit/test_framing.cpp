#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/wire/sse.hpp>

using evalcore::wire::sse_event;
using evalcore::wire::sse_parser;
using namespace std::string_literals;

namespace {

/// What a stream means, written by hand from the WHATWG standard, section "Parsing an event stream" and
/// "Interpreting an event stream". An event is "type|data". At the end of the stream the standard drops an
/// event that no blank line finished; the parser delivers it, marked as unfinished.
struct framing {
  const char* what;
  std::string bytes;
  std::vector<std::string> events;
  std::uint64_t comments = 0;
  std::optional<std::string> unfinished = std::nullopt;
};

const std::string mark = "\xEF\xBB\xBF";

const std::vector<framing> cases{
    {"one event", "data: a\n\n", {"|a"}},
    {"an empty stream", "", {}},
    {"blank lines alone", "\n\r\n\r\n\n", {}},
    {"blank lines between events", "\n\ndata: a\n\n\n\ndata: b\n\n", {"|a", "|b"}},

    // Values.
    {"no space after the colon", "data:a\n\n", {"|a"}},
    {"only the first space is dropped", "data:  a\n\n", {"| a"}},
    {"a tab is no space", "data:\ta\n\n", {"|\ta"}},
    {"spaces at the end are kept", "data: a \n\n", {"|a "}},
    {"colons in the value", "data: {\"a\":\"b:c\"}\n\n", {"|{\"a\":\"b:c\"}"}},
    {"several data lines are joined", "data: a\ndata: b\ndata: c\n\n", {"|a\nb\nc"}},
    {"a field without a colon has an empty value", "data\n\n", {"|"}},
    {"an empty value", "data:\n\ndata: \n\n", {"|", "|"}},
    {"two fields without a colon are one line end", "data\ndata\n\n", {"|\n"}},
    {"empty lines of data at both ends", "data:\ndata: a\ndata\n\n", {"|\na\n"}},
    {"characters of two to four bytes",
     "data: \xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80\n\n",
     {"|\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80"}},
    {"NUL in data", "data: a\0b\n\n"s, {"|a\0b"s}},

    // Line ends.
    {"CR", "event: t\rdata: a\r\rdata: b\r\r", {"t|a", "|b"}},
    {"CRLF", "event: t\r\ndata: a\r\n\r\ndata: b\r\n\r\n", {"t|a", "|b"}},
    {"CRLF, then LF", "data: a\r\n\ndata: b\n\n", {"|a", "|b"}},
    {"LF, then CRLF", "data: a\n\r\ndata: b\n\n", {"|a", "|b"}},
    {"CR, then CRLF", "data: a\r\r\ndata: b\n\n", {"|a", "|b"}},
    {"LF, then CR", "data: a\n\rdata: b\n\r", {"|a", "|b"}},
    {"three kinds in one event", "data: a\r\ndata: b\rdata: c\n\n", {"|a\nb\nc"}},

    // The byte order mark.
    {"a mark at the start", mark + "data: a\n\n", {"|a"}},
    {"a mark before a comment", mark + ": hi\ndata: a\n\n", {"|a"}, 1},
    {"a mark before a blank line", mark + "\ndata: a\n\n", {"|a"}},
    {"of two marks one is part of the field's name", mark + mark + "data: a\n\ndata: b\n\n", {"|b"}},
    {"a mark further on is part of the field's name", "data: a\n\n" + mark + "data: b\n\n", {"|a"}},
    {"a mark in data stays", "data: " + mark + "a\n\n", {"|" + mark + "a"}},
    {"two thirds of a mark are no mark", "\xEF\xBB"s + "data: a\n\ndata: b\n\n", {"|b"}},

    // Comments.
    {"a comment dispatches nothing", ":\n\n: keepalive 1/3\n\n:keep-alive\n\n", {}, 3},
    {"a comment inside an event", "data: a\n: still here\ndata: b\n\n", {"|a\nb"}, 1},
    {"a comment that looks like data", ": data: a\n\n:data: b\n\n", {}, 2},
    {"a comment before a type", ":\nevent: t\ndata: a\n\n", {"t|a"}, 1},

    // The type.
    {"a type holds for one event", "event: t\ndata: a\n\ndata: b\n\n", {"t|a", "|b"}},
    {"a type may follow its data", "data: a\nevent: t\n\n", {"t|a"}},
    {"the last type counts", "event: t\nevent: u\ndata: a\n\n", {"u|a"}},
    {"an empty type is none", "event: t\nevent\ndata: a\n\n", {"|a"}},
    {"a type without data is forgotten", "event: ping\n\ndata: a\n\n", {"|a"}},

    // Other fields.
    {"id, also with NUL", "id: 1\ndata: a\n\nid: 1\0002\ndata: b\n\nid\ndata: c\n\n"s, {"|a", "|b", "|c"}},
    {"retry, a number or not", "retry: 3000\ndata: a\n\nretry: soon\ndata: b\n\n", {"|a", "|b"}},
    {"unknown fields", "foo: bar\nbaz\ndata: a\n\n", {"|a"}},
    {"names of fields are case-sensitive", "Data: x\nDATA: y\nEvent: t\ndata: a\n\n", {"|a"}},
    {"a space belongs to the name", "data : x\n data: y\n\ndata: a\n\n", {"|a"}},
    {"a longer name is another field", "data2: x\ndataa: y\ndat: z\ndata: a\n\n", {"|a"}},

    // The end.
    {"no final blank line", "data: a\n\ndata: [DONE]\n", {"|a"}, 0, "|[DONE]"},
    {"no final line end", "data: a\n\ndata: [DONE]", {"|a"}, 0, "|[DONE]"},
    {"the end within a type", "data: a\n\nevent: don", {"|a"}},
    {"the end after a type and data", "event: t\ndata: a", {}, 0, "t|a"},
    {"the end within the name of a field", "data: a\n\ndat", {"|a"}},
    {"the end within a comment", "data: a\n\n: kee", {"|a"}, 1},
    {"the end after CR", "data: a\r", {}, 0, "|a"},

    // The examples of the standard.
    {"its first example", "data: YHOO\ndata: +2\ndata: 10\n\n", {"|YHOO\n+2\n10"}},
    {"its second example",
     ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
     {"|first event", "|second event"},
     1,
     "| third event"},
    {"its third example", "data\n\ndata\ndata\n\ndata:\n", {"|", "|\n"}, 0, "|"},
    {"its fourth example", "data:test\n\ndata: test\n\n", {"|test", "|test"}},
};

framing read(const std::vector<std::string_view>& pieces) {
  framing got;
  sse_parser parser;
  const auto shown = [](const sse_event& one) { return std::string(one.type) + "|" + std::string(one.data); };
  const auto keep = [&](const sse_event& one) { got.events.push_back(shown(one)); };
  for (const auto piece : pieces) CHECK(parser.feed(piece, keep));
  const bool begun = parser.finish([&](const sse_event& one) { got.unfinished = shown(one); });
  CHECK(begun == got.unfinished.has_value());
  got.comments = parser.comments();
  return got;
}

bool same(const framing& a, const framing& b) {
  return a.events == b.events && a.comments == b.comments && a.unfinished == b.unfinished;
}

}  // namespace

TEST_CASE("events are those of the standard") {
  REQUIRE(cases.size() >= 40);
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const framing got = read({one.bytes});
    CHECK(got.events == one.events);
    CHECK(got.comments == one.comments);
    CHECK(got.unfinished == one.unfinished);
  }
}

TEST_CASE("events are the same at every cut in two and in three, and byte by byte") {
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const std::string_view bytes = one.bytes;
    for (std::size_t first = 0; first <= bytes.size(); ++first) {
      CAPTURE(first);
      REQUIRE(same(read({bytes.substr(0, first), bytes.substr(first)}), one));
      for (std::size_t second = first; second <= bytes.size(); ++second) {
        CAPTURE(second);
        REQUIRE(same(
            read({bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}), one));
      }
    }
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
    CHECK(same(read(single), one));
  }
}
