#include <doctest/doctest.h>

#include <string>

#include <evalcore/chat/call_text.hpp>

using namespace evalcore;
using chat::python_value;

namespace {

/// The value of a Python literal.
python_value value(std::string_view literal) {
  auto calls = chat::decode_calls("f(a=" + std::string(literal) + ")");
  REQUIRE_MESSAGE(calls, std::string(literal));
  return calls->front().arguments.front().second;
}

bool equal(std::string_view a, std::string_view b) { return chat::python_equal(value(a), value(b)); }

}  // namespace

TEST_CASE("equality is Python's") {
  CHECK(equal("1", "1.0"));
  CHECK(equal("True", "1"));
  CHECK(equal("0.0", "False"));
  CHECK(equal("-0.0", "0"));
  CHECK(equal("100000000000000000000", "1e20"));
  CHECK_FALSE(equal("9007199254740993", "9007199254740992.0"));
  CHECK_FALSE(equal("'1'", "1"));
  CHECK_FALSE(equal("None", "False"));
  CHECK(equal("[1, [True]]", "[1.0, [1]]"));
  CHECK_FALSE(equal("[1]", "(1,)"));
  CHECK_FALSE(equal("[1]", "[1, 2]"));
  CHECK(equal("{'a': 1, 'b': 2}", "{'b': 2.0, 'a': True}"));
  CHECK_FALSE(equal("{'a': 1}", "{'b': 1}"));
  CHECK_FALSE(equal("{'a': 1}", "{'a': 1, 'b': 1}"));
}

TEST_CASE("repr is Python's") {
  // Right sides from Python 3.11.
  const auto shown = [](double number) { return chat::repr(python_value(number)); };
  CHECK(shown(100000.0) == "100000.0");
  CHECK(shown(1e15) == "1000000000000000.0");
  CHECK(shown(1e16) == "1e+16");
  CHECK(shown(0.0001) == "0.0001");
  CHECK(shown(0.00001) == "1e-05");
  CHECK(shown(5e-324) == "5e-324");
  CHECK(shown(-0.0) == "-0.0");
  CHECK(shown(0.1 + 0.2) == "0.30000000000000004");
  const auto quoted = [](std::string text) { return chat::repr(python_value(std::move(text))); };
  CHECK(quoted("it's") == "\"it's\"");
  CHECK(quoted("it's \"x\"") == "'it\\'s \"x\"'");
  CHECK(quoted("\t\x01\x7f\u00a0\u200b\u2028é😀\\") == R"('\t\x01\x7f\xa0\u200b\u2028é😀\\')");
}

TEST_CASE("JSON comes in as json.loads has it and goes out as JSON") {
  const auto parsed = json::parse(R"({"a":[1,1.0,true,null,"x"],"b":{"c":18446744073709551615}})");
  REQUIRE(parsed);
  const auto read = chat::from_json(*parsed);
  CHECK(chat::repr(read) == "{'a': [1, 1.0, True, None, 'x'], 'b': {'c': 18446744073709551615}}");
  CHECK(chat::to_json(read) == *parsed);
  CHECK(json::to_text(chat::to_json(value("{'a': (1, 2), 3: 4, None: True}"))) ==
        R"({"a":[1,2],"3":4,"null":true})");
  CHECK(json::to_text(chat::to_json(value("100000000000000000000"))) == R"("100000000000000000000")");
}
