#include <doctest/doctest.h>

#include <string>

#include <evalcore/chat/call_text.hpp>

using namespace evalcore;
using chat::decode_calls;

namespace {

/// The calls as source text, "error" when there are none.
std::string decoded(std::string_view text) {
  const auto calls = decode_calls(text);
  if (!calls) {
    CHECK(calls.error().code == errc::bad_reply);
    return "error";
  }
  std::string out;
  for (const auto& call : *calls) out += (out.empty() ? "" : " ") + chat::repr(call);
  return out;
}

std::string repeated(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

}  // namespace

// Each right side is what bfcl-eval 2026.3.23's default_decode_ast_prompting gives on Python 3.11.

TEST_CASE("a list of calls, one call, and what models put around them") {
  CHECK(decoded("[f(a=1), g.h(b='x')]") == "f(a=1) g.h(b='x')");
  CHECK(decoded("f(a=1)") == "f(a=1)");
  CHECK(decoded("f(a=1), g(b=2)") == "f(a=1) g(b=2)");
  CHECK(decoded("```\n[f(a=1)]\n```") == "f(a=1)");
  CHECK(decoded("[\n  f(a=1),  # first\n  g(b=2,),\n]") == "f(a=1) g(b=2)");
  CHECK(decoded("f(a=1,\r\nb=2)") == "f(a=1, b=2)");
  CHECK(decoded("") == "");
  CHECK(decoded("[]") == "");
}

TEST_CASE("what is not a list of calls is an error") {
  for (const char* text : {"Sure! [f(a=1)]",
                           "[f(a=1)] Done.",
                           "```python\nf(a=1)\n```",
                           "f(a=1",
                           "f(a=1))",
                           "[f(a=1), 2]",
                           "[[f(a=1)]]",
                           "[f(a=1)]\r\n",
                           "f(a=1); g()",
                           "f(a=1) g()",
                           "x = f(a=1)",
                           "{\"f\": {\"a\": 1}}",
                           "f(a=1, 2)",
                           "f(class='x')",
                           "f(a='x)",
                           "f(a=\"it's')",
                           "f(a=“x”)",
                           "f(a=x.y)",
                           "f(a={1, 2})",
                           "f(a=[x for x in y])",
                           "f(a=lambda: 1)",
                           "f(a=x if y else z)",
                           "f(a=x == y)",
                           "f(a=x or y)",
                           "f(a={[1]: 2})",
                           "f(a=007)",
                           "f(a=1__0)",
                           "f(a=1/0)",
                           "f(a=x+1)",
                           "f(a=--1)",
                           "f(a=f'x')",
                           "f(**x)",
                           "f(a=1,,)",
                           "f(,)",
                           "f(a=[,])"}) {
    CHECK_MESSAGE(decoded(text) == "error", text);
  }
  CHECK(decoded(std::string("f(a='\0')", 8)) == "error");
  CHECK(decoded("f(a='\xff')") == "error");
}

TEST_CASE("strings") {
  CHECK(decoded(R"(f(a='it\'s', b="it's", c='''x "y" z''', d=r'\n', e=u'é'))") ==
        R"(f(a="it's", b="it's", c='x "y" z', d='\\n', e='é'))");
  CHECK(decoded(R"(f(a='\x41\u00e9\U0001F600\101\n\q', b='x' "y"))") == "f(a='Aé😀A\\n\\\\q', b='xy')");
  CHECK(decoded("f(a='x\\\ny', b='''x\r\ny''')") == "f(a='xy', b='x\\ny')");
}

TEST_CASE("numbers") {
  CHECK(decoded("f(a=1_000, b=0x1F, c=0o17, d=0b101, e=00)") == "f(a=1000, b=31, c=15, d=5, e=0)");
  CHECK(decoded("f(a=1.5, b=1., c=.5, d=1e3, e=1e16, f=1e-05, g=1e999)") ==
        "f(a=1.5, b=1.0, c=0.5, d=1000.0, e=1e+16, f=1e-05, g=inf)");
  CHECK(decoded("f(a=9223372036854775807, b=-9223372036854775808, c=18446744073709551616)") ==
        "f(a=9223372036854775807, b=-9223372036854775808, c=18446744073709551616)");
  CHECK(decoded("f(a=0xffffffffffffffffffffffff)") == "f(a=79228162514264337593543950335)");
  CHECK(decoded("f(a=-5, b=-1.5)") == "f(a=-5, b=-1.5)");
}

TEST_CASE("every sign in front of a constant is read as a minus, as the reference does") {
  CHECK(decoded("f(a=+5, b=~5, c=not 5, d=-True)") == "f(a=-5, b=-5, c=-5, d=-1)");
}

TEST_CASE("constant arithmetic is computed by Python's rules") {
  CHECK(decoded("f(a=1/2, b=2**10, c=-7//2, d=-7%3, e=7%-3, f=2**-1, g=-5+3, h=2+3*4)") ==
        "f(a=0.5, b=1024, c=-4, d=2, e=-2, f=0.5, g=-2, h=14)");
  CHECK(decoded("f(a=-5.5//2, b=5.5%-2, c=1<<4, d=6^3, e='x'+'y', f=10-2-3, g=2**3**2)") ==
        "f(a=-3.0, b=-0.5, c=16, d=5, e='xy', f=5, g=512)");
  CHECK(decoded("f(a=9223372036854775807+1)") == "error");
}

TEST_CASE("names are their text, JSON's words among them") {
  CHECK(decoded("f(a=True, b=None, c=true, d=null, e=größe, f=...)") ==
        "f(a=True, b=None, c='true', d='null', e='größe', f='...')");
  CHECK(decoded("f(a=ﬁ)") == "f(a='fi')");
}

TEST_CASE("containers keep the difference between list and tuple") {
  CHECK(decoded("f(a=[1, (2,), ()], b={'x': [1], 2: None}, c=(1))") ==
        "f(a=[1, (2,), ()], b={'x': [1], 2: None}, c=1)");
  CHECK(decoded("f(a={1: 2, 1.0: 3, True: 4, (1, 2): 5, (1.0, 2): 6})") == "f(a={1: 4, (1, 2): 6})");
}

TEST_CASE("calls as arguments, methods and subscripts") {
  CHECK(decoded("f(a=g(x=1, y=2))") == "f(a={'g': {'x': 1, 'y': 2}})");
  CHECK(decoded("f(a=date(2024, \"x\", -1, (2+3)*4))") == "f(a=\"date(2024, 'x', -1, (2 + 3) * 4)\")");
  CHECK(decoded("f(a=x.y[0], b=x[\"k\"], c=x[1, 2])") == "f(a='x.y[0]', b=\"x['k']\", c='x[(1, 2)]')");
  CHECK(decoded("f(x=1).g.h(y=2)") == "g.h(y=2)");
}

TEST_CASE("positional arguments are dropped and the last of two equal keywords stands") {
  CHECK(decoded("f(1, x, [2], not y, a=1, a=2, *z)") == "f(a=2)");
}

TEST_CASE("nesting is bounded as in CPython's tokenizer") {
  CHECK(decoded("f(a=" + repeated("[", 198) + repeated("]", 198) + ")") != "error");
  CHECK(decoded("f(a=" + repeated("[", 199) + repeated("]", 199) + ")") == "error");
}

TEST_CASE("hostile text ends in an error, soon and without a deep stack") {
  for (const char* piece : {"[", "(", "f(", "{1:", "-", "not ", "x if y else ", "f(a=", "2**"}) {
    CHECK_MESSAGE(decoded(repeated(piece, 200'000)) == "error", piece);
  }
  for (const char* piece : {".b", "()", "[0]", "+1", "(a=1)"}) {
    CHECK_MESSAGE(decoded("f(a=x" + repeated(piece, 200'000) + ")") == "error", piece);
  }
  CHECK(decoded("f(a=" + repeated("9", 4301) + ")") == "error");
  CHECK(decoded("f(a=0x" + repeated("f", 100'000) + ")") == "error");
}

TEST_CASE("long flat text is read") {
  CHECK(decode_calls("f(a=[" + repeated("1,", 200'000) + "])")->front().arguments.size() == 1);
  CHECK(decode_calls("[" + repeated("f(a=1),", 50'000) + "]")->size() == 50'000);
  std::string members;
  for (int i = 0; i < 50'000; ++i) members += "'k" + std::to_string(i) + "':1,";
  CHECK(std::get<chat::python_value::dict>(
            decode_calls("f(a={" + members + "})")->front().arguments[0].second.state)
            .items.size() == 50'000);
}

TEST_CASE("native calls") {
  const auto calls = chat::calls_from_native(
      {{"1", "a_b", R"({"x":5.0,"y":[1,null],"z":{"k":true}})"}, {"2", "g", ""}, {"3", "h", " {} "}});
  REQUIRE(calls);
  CHECK(chat::repr((*calls)[0]) == "a_b(x=5.0, y=[1, None], z={'k': True})");
  CHECK(chat::repr((*calls)[1]) == "g()");
  CHECK(chat::repr((*calls)[2]) == "h()");
  for (const char* bad : {"[1]", "null", "{\"x\":", "\"x\"", "{}}"}) {
    const auto failed = chat::calls_from_native({{"1", "f", bad}});
    REQUIRE_MESSAGE(!failed, bad);
    CHECK(failed.error().code == errc::bad_reply);
  }
}
