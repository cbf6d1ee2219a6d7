#include <doctest/doctest.h>

#include <evalcore/chat/double_bos.hpp>

using namespace evalcore;

TEST_CASE("a prompt that brings its own token of beginning is told") {
  const auto begins = [](const char* text) {
    chat::request of;
    of.messages.push_back({.who = chat::role::user, .text = text});
    return chat::begins_with_bos(of);
  };
  for (const char* text : {"<s>Hello", "<|begin_of_text|>Hello", "<bos>", "<｜begin▁of▁sentence｜>x"})
    CHECK(begins(text));
  for (const char* text : {"", "Hello", "What is <s>?", "<script>"}) CHECK_FALSE(begins(text));
  CHECK_FALSE(chat::begins_with_bos({}));
}
