#include <doctest/doctest.h>

#include <string>

#include <evalcore/base/json.hpp>

using namespace evalcore;

namespace {
json::value read(std::string_view text) {
  auto value = json::parse(text);
  REQUIRE_MESSAGE(value, std::string(text));
  return *std::move(value);
}
}  // namespace

TEST_CASE("what a score depends on survives a round trip") {
  // Each right side is what Python 3.11's json.dumps(json.loads(x), separators=(',', ':'),
  // ensure_ascii=False) prints.
  CHECK(json::to_text(read(R"({"b":1,"a":2})")) == R"({"b":1,"a":2})");
  CHECK(json::to_text(read("[5,5.0,-0.0,1e3,0.1,1e-7]")) == "[5,5.0,-0.0,1000.0,0.1,1e-07]");
  CHECK(json::to_text(read("[100000.0,123456789.0,1e15,1e16,0.0001,0.00001,1e22,1.5e300]")) ==
        "[100000.0,123456789.0,1000000000000000.0,1e+16,0.0001,1e-05,1e+22,1.5e+300]");
  CHECK(json::to_text(read("[9223372036854775807,18446744073709551615]")) ==
        "[9223372036854775807,18446744073709551615]");
  CHECK(json::to_text(read(R"(["\u00e9\n\"\\/"])")) == "[\"é\\n\\\"\\\\/\"]");
  CHECK(json::to_text(read(R"([null,true,false,{},[]])")) == "[null,true,false,{},[]]");
}

TEST_CASE("python's default text") {
  CHECK(json::to_python_text(read(R"({"a":[1,2.0],"é":"😀"})")) ==
        R"({"a": [1, 2.0], "\u00e9": "\ud83d\ude00"})");
}

TEST_CASE("the last of two equal keys wins, in the place of the first") {
  CHECK(json::to_text(read(R"({"a":1,"b":2,"a":3})")) == R"({"a":3,"b":2})");
}

TEST_CASE("where equal keys are refused, the key is named, however deep it stands") {
  const auto refused = [](std::string_view text) {
    const auto read = json::parse(text, json::repeated_keys::refused);
    return read ? "accepted" : read.error().message;
  };
  CHECK(refused(R"({"a":1,"b":2,"a":1})") == R"(one object has "a" twice)");
  CHECK(refused(R"([{"x":{"id":1,"\u0069d":2}}])") == R"(one object has "id" twice)");
  CHECK(refused(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})") == "accepted");
  CHECK(refused(R"({"a":1,"A":2})") == "accepted");
  CHECK(json::parse(R"({"a":1,"a":2})", json::repeated_keys::refused).error().code == errc::unsupported);
  CHECK(json::parse("{", json::repeated_keys::refused).error().code == errc::bad_reply);
}

TEST_CASE("an object with very many keys takes linear time and keeps their order") {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text += "\"k7\":-1}";
  const auto root = read(text);
  REQUIRE(root.if_object()->size() == 100'000);
  CHECK(*root.if_object()->at(7).second.if_int() == -1);
  CHECK(root.if_object()->back().first == "k99999");
}

TEST_CASE("what is not JSON is refused") {
  for (const char* bad : {"", "{", "[1,]", "NaN", "[Infinity]", "{\"a\":1}x", "\"\xff\"", "nul", "1e400",
                          "123456789012345678901234567890"}) {
    CHECK_MESSAGE(!json::parse(bad), bad);
  }
}

TEST_CASE("an empty text is no JSON, wherever it comes from") {
  CHECK_FALSE(json::parse(std::string_view()));
  CHECK_FALSE(json::parse("\xEF\xBB\xBF"));
}

TEST_CASE("nesting is bounded") {
  CHECK(json::parse(std::string(100, '[') + std::string(100, ']')));
  CHECK_FALSE(json::parse(std::string(200'000, '[') + std::string(200'000, ']')));
}

TEST_CASE("a byte order mark is skipped") { CHECK(read("\xEF\xBB\xBF[1]").if_array()->size() == 1); }

TEST_CASE("text that is not UTF-8 is replaced, never copied") {
  std::string out;
  json::append_quoted(out, "a\xff\xc3(\xed\xa0\x80z");
  CHECK(out == "\"a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFDz\"");
}

TEST_CASE("a character is escaped wherever it stands among plain ones") {
  const std::pair<std::string, std::string> cases[] = {
      {"\"", "\\\""},
      {"\\", "\\\\"},
      {"\n", "\\n"},
      {"\x01", "\\u0001"},
      {"\x1f", "\\u001f"},
      {"\x7f", "\x7f"},
      {"!", "!"},
      {"[", "["},
      {"\xc3\xa9", "\xc3\xa9"},
      {"\xff", "\xef\xbf\xbd"},
      {std::string(1, '\0'), "\\u0000"},
  };
  constexpr std::size_t length = 40;
  for (const auto& [character, written] : cases) {
    for (std::size_t before = 0; before <= length; ++before) {
      const std::string head(before, 'a');
      const std::string tail(length - before, '~');
      std::string out;
      json::append_quoted(out, head + character + tail);
      CHECK(out == '"' + head + written + tail + '"');
    }
  }
}

TEST_CASE("the writer separates keys and texts that need escapes as it does all others") {
  json::writer out;
  out.begin_object().key("\"").string("\n").key("\\").string("x").key("y").string("\t").end_object();
  CHECK(out.take() == R"({"\"":"\n","\\":"x","y":"\t"})");
}

TEST_CASE("the writer separates what stands side by side") {
  json::writer out;
  out.begin_object()
      .key("a")
      .number(std::int64_t{1})
      .key("b")
      .begin_array()
      .string("x")
      .raw("{ \"k\": 1.0}")
      .null();
  out.end_array()
      .key("c")
      .begin_object()
      .end_object()
      .key("d")
      .boolean(true)
      .key("e")
      .number(2.5)
      .end_object();
  CHECK(out.text() == R"({"a":1,"b":["x",{ "k": 1.0},null],"c":{},"d":true,"e":2.5})");
}
