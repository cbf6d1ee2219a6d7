#include <doctest/doctest.h>

#include <string>

#include <evalcore/chat/call_text.hpp>

using namespace evalcore;

namespace {

std::string read(std::string_view text, chat::call_language in) {
  const auto calls = chat::decode_calls(text, in);
  return calls ? chat::repr(calls->front()) : "error";
}
std::string java(std::string_view text) { return read(text, chat::call_language::java); }
std::string javascript(std::string_view text) { return read(text, chat::call_language::javascript); }

}  // namespace

TEST_CASE("Java: each value is its source text, of a string what stands in it") {
  CHECK(java(R"([A.f(a="x", b=5L, c=new int[]{1, 2}, d='y')])") ==
        "A.f(a='x', b='5L', c='new int[]{1,2}', d='y')");
  CHECK(java("`A.f(a = -1.5f)`") == "A.f(a='-1.5f')");
  CHECK(java("[x = A.f(a=b.c)]") == "A.f(a='b.c')");
  CHECK(java("[f(a=g(1, 2).h)]") == "f(a='g(1, 2).h')");
  CHECK(java(R"([f(p=new HashMap<String, Object>() {{ put("k", 1); }})])") ==
        "f(p='new HashMap<String,Object>()')");
}

TEST_CASE("Java: a constructor with nested generics is one value") {
  CHECK(java("[g(ids=new ArrayList<Long>(Arrays.asList(7L, 9L)), s=2)]") ==
        "g(ids='new ArrayList<Long>(Arrays.asList(7L, 9L))', s='2')");
}

TEST_CASE("Java: what is no call") {
  for (const char* text : {"", "[]", "Sure! f(a=1)", "I cannot.", "f(a=1", "f(a=1, a=2)", "f(a=new int[3])",
                           "f(a=1)()", "f(a=[1])", "f(a=1,)", "f(a='x)", "return f(a=1)"})
    CHECK_MESSAGE(java(text) == "error", text);
}

TEST_CASE("JavaScript: each value is its source text") {
  CHECK(javascript(R"([f(a="x", b=[1, 2], c={k: "v"}, d=x => x + 1, e=new Date())])") ==
        R"(f(a='x', b='[1, 2]', c='{k: "v"}', d='x => x + 1', e='new Date()'))");
  CHECK(javascript("f(a=null, b=a.b(c).d)") == "f(a='null', b='a.b(c).d')");
  CHECK(javascript(R"(f({"s": stateObj}, a=function (x) { return x; }))") ==
        "f(a='function (x) { return x; }')");
}

TEST_CASE("JavaScript: what is no call") {
  for (const char* text :
       {"", "[]", "Sure! f(a=1)", "f(a=1), g(b=2)", "x = f(a=1)", "f(a=1", "f(a=1, a=2)", "f(a=1)."})
    CHECK_MESSAGE(javascript(text) == "error", text);
}

TEST_CASE("depth and length end in an error, not in a crash") {
  for (const auto in : {chat::call_language::java, chat::call_language::javascript}) {
    for (const auto* piece : {"f(", "(", "-", "new X(", "(a)", "f()", "[", "x?"}) {
      std::string text;
      while (text.size() < 300'000) text += piece;
      CHECK_MESSAGE(read("f(a=" + text, in) == "error", piece);
    }
  }
}
