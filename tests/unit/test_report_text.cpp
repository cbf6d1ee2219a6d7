#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

#include "run/report_text.hpp"

using namespace evalcore;

namespace {

std::string text_of(const json::value& cut) { return json::to_text(cut); }

std::string rules(const std::string& which) {
  std::string out;
  for (int i = 0; i < 20; ++i) out += "Rule " + std::to_string(i) + " of " + which + ".\n";
  return out;
}

}  // namespace

TEST_CASE("a text is shown whole up to its bound, and beyond it by its two ends") {
  CHECK(text_of(run::cut_text("0123456789", 10)) == R"("0123456789")");
  CHECK(text_of(run::cut_text("0123456789x", 10)) == R"(["01234",1,"6789x"])");
  CHECK(text_of(run::cut_text("", 10)) == R"("")");
}

TEST_CASE("a text is cut between characters") {
  // "ä" and "ü" are two bytes each, "€" is three.
  CHECK(text_of(run::cut_text("abcä" + std::string(10, '-') + "€xyz", 10)) == R"(["abcä",13,"xyz"])");
  CHECK(text_of(run::cut_text("abcdä" + std::string(10, '-') + "€xyz", 10)) == R"(["abcd",15,"xyz"])");
  CHECK(text_of(run::cut_text("üüü" + std::string(10, '-') + "€€", 10)) == R"(["üü",15,"€"])");
}

TEST_CASE("texts that follow each other share one bound") {
  const std::array<std::string_view, 3> few{"abc", "de", "fgh"};
  CHECK(text_of(json::array(run::cut_texts(few, 8))) == R"(["abc","de","fgh"])");
  const std::array<std::string_view, 4> many{"abc", "defgh", "ijkl", "mnopqr"};
  // Of the 18 bytes the first four and the last four.
  CHECK(text_of(json::array(run::cut_texts(many, 8))) == R"(["abc",["d",4,""],["",4,""],["",2,"opqr"]])");
}

TEST_CASE("what texts have in common at their beginning is kept once, up to the line in which they part") {
  run::shared_fronts fronts;
  const auto common = rules("refunds");
  const auto first = common + "What of item 11?";
  const auto second = common + "What of item 12?";
  CHECK(fronts.add(first).front == run::shared_fronts::none);
  CHECK(fronts.add(first).own.empty());  // The very same again.
  const auto found = fronts.add(second);
  REQUIRE(found.front != run::shared_fronts::none);
  CHECK(found.own == "What of item 12?");
  CHECK(fronts.fronts()[found.front] == common);
  CHECK(fronts.add(common + "And 13?").front == found.front);
  CHECK(fronts.fronts().size() == 2);
}

TEST_CASE("a longer front is found below a shorter one, and a short one is not worth it") {
  run::shared_fronts fronts;
  const auto shop = rules("the shop");
  CHECK(fronts.add(shop + "a").front == run::shared_fronts::none);
  CHECK(fronts.add(shop + rules("returns") + "b").own == rules("returns") + "b");
  CHECK(fronts.add(shop + rules("returns") + "c").own == "c");
  CHECK(fronts.add(shop + "d").own == "d");
  CHECK(fronts.add("Say yes.\nOne").own == "Say yes.\nOne");
  CHECK(fronts.add("Say yes.\nTwo").front == run::shared_fronts::none);
  fronts.reset();
  CHECK(fronts.add(shop + "e").front == run::shared_fronts::none);
}

TEST_CASE("a front ends between characters") {
  run::shared_fronts fronts;
  const std::string common(300, 'x');
  CHECK(fronts.add(common + "é").own.size() == 302);
  const auto other = common + "è";  // The first of its two bytes is the same.
  CHECK(fronts.add(other).own == "è");
}
