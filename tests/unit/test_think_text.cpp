#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <evalcore/chat/think_text.hpp>

using namespace evalcore;

namespace {

std::pair<std::string, std::string> split(std::string_view content) {
  auto made = chat::split_think_text(content);
  return {made.reasoning, made.text};
}

using parts = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("a closed block of thinking is reasoning, what follows is the text") {
  CHECK(split("<think>two and two</think>4") == parts{"two and two", "4"});
  CHECK(split("\n<think>\ntwo\n</think>\n\n4 \n") == parts{"\ntwo\n", "4 \n"});
  CHECK(split("<think></think>4") == parts{"", "4"});
}

TEST_CASE("a block that was cut has no text after it") {
  CHECK(split("<think>two and") == parts{"two and", ""});
  CHECK(split("<think>two</thin") == parts{"two</thin", ""});
  CHECK(split("<think>") == parts{"", ""});
}

TEST_CASE("an end tag alone ends reasoning that the template began") {
  CHECK(split("\ntwo and two\n</think>\n4") == parts{"\ntwo and two\n", "4"});
  CHECK(split("</think>4") == parts{"", "4"});
}

TEST_CASE("text without tags in front is the text, once and unchanged") {
  CHECK(split("") == parts{"", ""});
  CHECK(split(" 4\n") == parts{"", " 4\n"});
  CHECK(split("4 <think>really?") == parts{"", "4 <think>really?"});
  CHECK(split("the tags <think> and </think> mark it") == parts{"", "the tags <think> and </think> mark it"});
}

TEST_CASE("only the first block is split off") {
  CHECK(split("<think>a</think>b<think>c</think>d") == parts{"a", "b<think>c</think>d"});
  CHECK(split("<think>a <think> b</think> c</think>d") == parts{"a <think> b", "c</think>d"});
}

TEST_CASE("an answer that ended in its reasoning is known") {
  chat::reply answer;
  answer.text = "<think>two and";
  CHECK(chat::ends_in_reasoning(answer));
  answer.text = "<think>two</think>4";
  CHECK_FALSE(chat::ends_in_reasoning(answer));
  answer.text = "4 <think>";
  CHECK_FALSE(chat::ends_in_reasoning(answer));
  // As a server gives it that splits reasoning off itself.
  answer.text.clear();
  answer.reasoning = "two and";
  answer.finish = chat::finish_reason::length;
  CHECK(chat::ends_in_reasoning(answer));
  answer.calls = {{"1", "f", "{}"}};
  CHECK_FALSE(chat::ends_in_reasoning(answer));
}
