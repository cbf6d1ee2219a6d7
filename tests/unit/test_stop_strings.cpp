#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/stop_strings.hpp"

using namespace evalcore;

namespace {

struct cut {
  std::string shown;
  std::string stop;  ///< Empty: none.

  bool operator==(const cut&) const = default;
};

/// Byte by byte: the answer ends as soon as what was said ends with a stop string.
cut by_definition(const std::vector<std::string>& stops, std::string_view text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::string_view longest;
    for (const auto& stop : stops) {
      if (text.substr(0, end).ends_with(stop) && stop.size() > longest.size()) longest = stop;
    }
    if (!longest.empty()) return {std::string(text.substr(0, end - longest.size())), std::string(longest)};
  }
  return {std::string(text), {}};
}

/// The text in the given pieces.
cut in_pieces(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  engine::stop_strings filter(stops);
  cut made;
  for (const auto& piece : pieces) {
    if (filter.feed(piece, made.shown)) return {made.shown, filter.found()};
  }
  made.shown += filter.take_held();
  return made;
}

}  // namespace

TEST_CASE("a stop string across two tokens ends the answer before its first byte") {
  CHECK(in_pieces({"END"}, {"abcE", "N", "Dxyz"}) == cut{"abc", "END"});
}

TEST_CASE("the earliest of several stop strings ends the answer") {
  CHECK(in_pieces({"world", "lo"}, {"hello world"}) == cut{"hel", "lo"});
}

TEST_CASE("text that might become a stop string is held back until it is decided") {
  engine::stop_strings filter({"\n\nQ:"});
  std::string shown;
  CHECK(!filter.feed("four\n\n", shown));
  CHECK(shown == "four");
  CHECK(!filter.feed("Or five", shown));
  CHECK(shown == "four\n\nOr five");
}

TEST_CASE("what was held back at the end of an answer is shown") {
  CHECK(in_pieces({"END"}, {"the EN"}) == cut{"the EN", ""});
}

TEST_CASE("a stop string that begins within a false start is found") {
  CHECK(in_pieces({"aab"}, {"a", "a", "a", "b"}) == cut{"a", "aab"});
}

TEST_CASE("bytes that are no ASCII are compared as bytes") {
  CHECK(in_pieces({"\u00e9t\u00e9"}, {"un \xc3", "\xa9t\xc3", "\xa9 chaud"}) == cut{"un ", "\u00e9t\u00e9"});
}

TEST_CASE("without stop strings all text is shown at once") {
  engine::stop_strings filter{std::vector<std::string>{}};
  std::string shown;
  CHECK(!filter.feed("anything", shown));
  CHECK(shown == "anything");
}

TEST_CASE("the outcome depends on the text and not on how it comes in pieces") {
  std::mt19937 random(11);
  const auto word = [&](std::size_t most) {
    std::string made(1 + random() % most, ' ');
    for (auto& c : made) c = static_cast<char>('a' + random() % 3);
    return made;
  };
  std::size_t stopped = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> stops(1 + random() % 3);
    std::ranges::generate(stops, [&] { return word(4); });
    const auto text = word(24);
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const auto size = random() % 4;  // A token may add nothing.
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    const auto expected = by_definition(stops, text);
    stopped += expected.stop.empty() ? 0U : 1U;
    REQUIRE(in_pieces(stops, pieces) == expected);
  }
  CHECK(stopped > 5'000);
  CHECK(stopped < 20'000);
}
