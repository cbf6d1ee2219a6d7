#include <doctest/doctest.h>

#include <evalcore/base/utf8.hpp>

using namespace evalcore;

// Expected values: Python's bytes.decode("utf-8", "replace").
TEST_CASE("each longest front of a broken character is one replacement") {
  CHECK(replace_invalid_utf8("") == "");
  CHECK(replace_invalid_utf8("a\u00DF\u6F22\U0001F600\U0010FFFF") == "a\u00DF\u6F22\U0001F600\U0010FFFF");
  CHECK(replace_invalid_utf8("\xE2\x82") == "\uFFFD");
  CHECK(replace_invalid_utf8("\xE2\x82(") == "\uFFFD(");
  CHECK(replace_invalid_utf8("\xF0\x9F\xE2\x82\xAC") == "\uFFFD\u20AC");
  CHECK(replace_invalid_utf8("\x80\xBF\xFE") == "\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("overlong forms, surrogates and what lies beyond Unicode are no characters") {
  CHECK(replace_invalid_utf8("\xC0\xAF") == "\uFFFD\uFFFD");
  CHECK(replace_invalid_utf8("\xE0\x80\xAF") == "\uFFFD\uFFFD\uFFFD");
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(replace_invalid_utf8("\xF0\x80\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(replace_invalid_utf8("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
}
