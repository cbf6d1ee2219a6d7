#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <evalcore/base/json.hpp>

#include "run/report_page.hpp"
#include "run/report_parts.hpp"

using namespace evalcore;

TEST_CASE("JSON in a page neither ends its element nor opens a comment, and reads as the same") {
  const json::value hostile =
      json::object{{"</script>", "<!--<script>]]>&amp;\xE2\x80\xA8\xE2\x80\xA9\x1B\x07"},
                   {"text", "ä\u20AC \"quoted\" \\ \n"},
                   {"number", 0.25}};
  const auto page = run::json_for_page(hostile);
  for (const char* never : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    CHECK(page.find(never) == std::string::npos);
  CHECK(std::ranges::none_of(page, [](char one) { return static_cast<unsigned char>(one) < 0x20; }));
  const auto read = json::parse(page);
  REQUIRE(read);
  CHECK(*read == hostile);
}

TEST_CASE("a page begins with its policy and holds all of its parts") {
  const auto front = run::report_front();
  const auto end = run::report_end(json::object{});
  CHECK(front.starts_with("<!DOCTYPE html>"));
  CHECK(front.find("default-src 'none'; script-src 'sha256-") != std::string::npos);
  CHECK(front.find("'unsafe-") == std::string::npos);
  CHECK(front.find(run::report_part("style.css")) != std::string::npos);
  for (const char* name : {"text.js", "figures.js", "charts.js", "items.js"}) {
    CHECK_FALSE(run::report_part(name).empty());
    CHECK(end.find(run::report_part(name)) != std::string::npos);
  }
  CHECK(end.ends_with("</html>\n"));
  // The licence goes where the library goes.
  const bool chart = !run::report_part("chart.js").empty();
  CHECK((end.find(run::report_part("chart-licence.txt")) != std::string::npos) == chart);
}
