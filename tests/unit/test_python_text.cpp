#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "score/python_text.hpp"

using namespace evalcore;

namespace {

using words = std::vector<std::string_view>;

}  // namespace

// As CPython 3.11 has it: [c for c in range(0x110000) if chr(c).isspace()].
TEST_CASE("words end at each white space that Python knows, and at nothing else") {
  for (const std::string_view space :
       {"\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",   " ",
        "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
        "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
    const std::string text = "a" + std::string(space) + "é";
    CHECK_MESSAGE((score::python_words(text) == words{"a", "é"}), text);
  }
  for (const std::string_view other :
       {"\x1b", "\x7f", "\u0084", "\u180e", "\u200b", "\u2060", "\u3001", "\ufeff", "\xe2\x80"}) {
    const std::string text = "a" + std::string(other) + "é";
    CHECK_MESSAGE((score::python_words(text) == words{text}), text);
  }
  CHECK((score::python_words(" \n a\t\tb ") == words{"a", "b"}));
  CHECK(score::python_words("").empty());
  CHECK(score::python_words(" \u3000").empty());
}
