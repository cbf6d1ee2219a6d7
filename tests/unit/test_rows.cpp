#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <evalcore/run/rows.hpp>

using namespace evalcore;

namespace {

run::row plain_row() {
  run::row one;
  one.metric = "accuracy";
  one.model_name = "tiny";
  one.model_path = "/models/tiny.gguf";
  one.n_examples = 16;
  one.run_id = "0B5B1D0E-4B52-4E0C-9E2B-6C1D2F3A4B5C";
  one.score = 0.5;
  one.task = "bfcl";
  one.timestamp = "2026-08-08T12:00:00Z";
  one.wall_seconds = 12;
  return one;
}

std::string score_text(double score) {
  auto one = plain_row();
  one.score = score;
  const auto line = run::to_line(one);
  const auto from = line.find("\"score\":") + std::string("\"score\":").size();
  return line.substr(from, line.find(',', from) - from);
}

}  // namespace

TEST_CASE("a row has sorted keys, escaped slashes, and no key for what is absent") {
  CHECK(run::to_line(plain_row()) ==
        R"({"baseline":false,"metric":"accuracy","model_name":"tiny","model_path":"\/models\/tiny.gguf",)"
        R"("n_examples":16,"run_id":"0B5B1D0E-4B52-4E0C-9E2B-6C1D2F3A4B5C","score":0.5,"task":"bfcl",)"
        R"("timestamp":"2026-08-08T12:00:00Z","wall_seconds":12})"
        "\n");
}

TEST_CASE("a row with every key") {
  auto one = plain_row();
  one.baseline = true;
  one.harness_version = "evalcore 0.1.0";
  one.model_step = 1200;
  one.subtask = "live_multiple";
  CHECK(
      run::to_line(one) ==
      R"({"baseline":true,"harness_version":"evalcore 0.1.0","metric":"accuracy","model_name":"tiny",)"
      R"("model_path":"\/models\/tiny.gguf","model_step":1200,"n_examples":16,)"
      R"("run_id":"0B5B1D0E-4B52-4E0C-9E2B-6C1D2F3A4B5C","score":0.5,"subtask":"live_multiple","task":"bfcl",)"
      R"("timestamp":"2026-08-08T12:00:00Z","wall_seconds":12})"
      "\n");
}

TEST_CASE("doubles are printed as Foundation's JSONEncoder prints them") {
  // The right sides are what Swift 6.3's JSONEncoder gave.
  const std::pair<double, const char*> printed[] = {
      {0.1, "0.1"},
      {1e-7, "1e-07"},
      {1e16, "1e+16"},
      {123456789.125, "123456789.125"},
      {0.30000000000000004, "0.30000000000000004"},
      {5.0, "5"},
      {0.0, "0"},
      {-0.0, "-0"},
      {1e15, "1000000000000000"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {1.5e300, "1.5e+300"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {0.00012345, "0.00012345"},
      {-2.5, "-2.5"},
      {9007199254740992.0, "9007199254740992"},
      {9007199254740991.0, "9007199254740991"},
      {4503599627370497.5, "4503599627370498"},
      {1.0 / 3.0, "0.3333333333333333"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {12.0625, "12.0625"},
  };
  for (const auto& [number, text] : printed) CHECK(score_text(number) == text);
}

TEST_CASE("strings are escaped as Foundation's JSONEncoder escapes them") {
  auto one = plain_row();
  one.model_name = "a/b\"\\\b\f\n\r\t\x01\x1f\x0b\x7f\u00e9\U0001F600\u2028<>&";
  CHECK(run::to_line(one).find("\"model_name\":\"a\\/b\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u000b\x7f"
                               "\u00e9\U0001F600\u2028<>&\"") != std::string::npos);
}

TEST_CASE("a number without a JSON form is refused") {
  auto one = plain_row();
  one.score = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(static_cast<void>(run::to_line(one)), std::invalid_argument);
}
