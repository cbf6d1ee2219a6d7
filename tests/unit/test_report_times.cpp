#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

#include "run/report_times.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

const json::array& list(const json::value& of, std::string_view key) { return *of.find(key)->if_array(); }

double number(const json::value& of) {
  double storage = 0;
  const auto* found = of.as_double(storage);
  REQUIRE(found != nullptr);
  return *found;
}

double number(const json::value& of, std::string_view key) { return number(*of.find(key)); }

}  // namespace

TEST_CASE("quantiles are those of numpy.percentile") {
  const std::vector<double> four{1, 2, 3, 4};
  CHECK(run::quantile(four, 0) == 1);
  CHECK(run::quantile(four, 0.5) == 2.5);
  CHECK(run::quantile(four, 0.9) == doctest::Approx(3.7));
  CHECK(run::quantile(four, 1) == 4);
  CHECK(run::quantile(std::vector{7.0}, 0.99) == 7);
}

TEST_CASE("a time that was never measured is unknown, and not 0") {
  const std::vector<run::request_times> one{{.sent_unix_ms = 1000, .total = 2s}};
  const auto told = run::latency_json(one);
  CHECK(number(told, "replies") == 1);
  CHECK(told.find("first_token_s")->is_null());
  CHECK(number(*told.find("total_s"), "p99") == 2);
  CHECK(run::latency_json({}).find("total_s")->is_null());
}

TEST_CASE("requests are in flight from when they are sent, and tokens come after the first one") {
  // One request of 12 s whose 120 tokens come in its second half, and beside them 60 of another.
  const auto told = run::over_time_json(
      {{.sent_unix_ms = 500'000, .total = 12s, .first_token = 6s, .completion_tokens = 120},
       {.sent_unix_ms = 506'000, .total = 6s, .completion_tokens = 60}},
      {});
  CHECK(number(told, "seconds") == 12);
  CHECK(number(told, "step_s") == doctest::Approx(0.1));
  const auto& in_flight = list(told, "in_flight");
  const auto& tokens = list(told, "tokens_per_s");
  REQUIRE(in_flight.size() == 120);
  for (const std::size_t early : {0U, 30U, 58U}) {
    CHECK(number(in_flight[early]) == doctest::Approx(1));
    CHECK(number(tokens[early]) == 0);
  }
  for (const std::size_t late : {61U, 90U, 119U}) {
    CHECK(number(in_flight[late]) == doctest::Approx(2));
    CHECK(number(tokens[late]) == doctest::Approx(30));
  }
}

TEST_CASE("tokens that nobody counted have no rate") {
  const auto told = run::over_time_json({{.sent_unix_ms = 0, .total = 1s}}, {});
  CHECK(told.find("tokens_per_s")->is_null());
  CHECK(list(told, "reported_share").front().is_null());
  CHECK(run::over_time_json({}, {}).is_null());
}

TEST_CASE("shares of cached tokens are of the prompts sent then") {
  const auto told =
      run::over_time_json({{.sent_unix_ms = 0,
                            .total = 1s,
                            .prompt_tokens = 100,
                            .cached_tokens = 80,
                            .predicted_cached_tokens = 50},
                           {.sent_unix_ms = 0, .total = 1s, .prompt_tokens = 300, .cached_tokens = 0},
                           {.sent_unix_ms = 0, .total = 1s, .cached_tokens = 7}},
                          {});
  CHECK(number(list(told, "reported_share").front()) == doctest::Approx(0.2));
  CHECK(number(list(told, "predicted_share").front()) == doctest::Approx(0.5));
}

TEST_CASE("pauses of more than a minute are left out, and limits stand where they were set") {
  const std::string first = R"([{"address":null,"limit_history":[{"after_s":0.5,"limit":4,"why":"start"}]}])";
  const std::string second =
      R"([{"address":null,"limit_history":[{"after_s":0,"limit":8,"why":"start"},{"after_s":100.5,"limit":16,"why":"growth"}]}])";
  // One second at 0, one an hour later, and one 50 s after that.
  const auto told = run::over_time_json({{.sent_unix_ms = 3'600'000, .total = 1s},
                                         {.sent_unix_ms = 0, .total = 1s},
                                         {.sent_unix_ms = 3'651'000, .total = 1s}},
                                        std::vector<run::stored_limits>{{0, first}, {3'550'000, second}});
  CHECK(number(told, "seconds") == 53);
  const auto& limits = *list(told, "limits").front().if_array();
  REQUIRE(limits.size() == 3);
  CHECK(number(limits[0], "s") == 0.5);
  CHECK(number(limits[1], "s") == 1);  // In the pause.
  CHECK(number(limits[2], "s") == doctest::Approx(51.5));
  CHECK(number(limits[2], "limit") == 16);
}
