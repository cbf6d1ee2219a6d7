#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/row_check.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

traits small_engine() {
  traits about;
  about.name = "toy";
  about.context_tokens = 200;
  about.prefix_grid = 64;
  about.scoring = true;
  return about;
}

row_request good_row() {
  row_request row;
  row.prompt.assign(150, 5);
  row.max_tokens = 50;
  return row;
}

struct some_snapshot final : snapshot {
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return 1; }
};

errc code_of(const row_request& row) {
  const auto checked = check_row(row, small_engine(), 10);
  return checked ? errc{} : const_cast<result<void>&>(checked).error().code;
}

}  // namespace

TEST_CASE("a row that fills its context is good, and one more token is an overflow") {
  auto row = good_row();
  CHECK(code_of(row) == errc{});
  row.max_tokens = 51;
  CHECK(code_of(row) == errc::context_overflow);
}

TEST_CASE("the last token of a continuation takes no room, as it is not computed") {
  auto row = good_row();
  row.continuations = {{1}, std::vector<token>(52, 2)};
  CHECK(code_of(row) == errc::context_overflow);
  row.continuations = {std::vector<token>(51, 2)};
  CHECK(code_of(row) == errc{});
  row.prompt.assign(200, 5);
  row.continuations = {{1}, {2}};
  CHECK(code_of(row) == errc{});
}

TEST_CASE("tokens outside of the vocabulary and rows without tokens are refused") {
  for (const token bad : {-1, 10}) {
    auto row = good_row();
    row.prompt.back() = bad;
    CHECK(code_of(row) == errc::invalid_argument);
    row = good_row();
    row.continuations = {{bad}};
    CHECK(code_of(row) == errc::invalid_argument);
    row = good_row();
    row.how.logit_bias = {{bad, 1.0}};
    CHECK(code_of(row) == errc::invalid_argument);
  }
  auto row = good_row();
  row.prompt.clear();
  CHECK(code_of(row) == errc::invalid_argument);
  row = good_row();
  row.continuations = {{}};
  CHECK(code_of(row) == errc::invalid_argument);
  row = good_row();
  row.max_tokens = 0;
  CHECK(code_of(row) == errc::invalid_argument);
}

TEST_CASE("prefixes and cuts lie on the grid and inside of the prompt") {
  auto row = good_row();
  row.cuts = {64, 128};
  CHECK(code_of(row) == errc{});
  for (const std::vector<std::uint32_t>& cuts :
       {std::vector<std::uint32_t>{63}, {128, 64}, {64, 64}, {0}, {192}}) {
    row.cuts = cuts;
    CHECK(code_of(row) == errc::invalid_argument);
  }
  row = good_row();
  row.restored = 64;
  CHECK(code_of(row) == errc::invalid_argument);
  row.from = std::make_shared<some_snapshot>();
  CHECK(code_of(row) == errc{});
  row.cuts = {64};
  CHECK(code_of(row) == errc::invalid_argument);
  row.cuts.clear();
  row.restored = 65;
  CHECK(code_of(row) == errc::invalid_argument);
  row.restored = 64;
  row.prompt.resize(64);
  CHECK(code_of(row) == errc::invalid_argument);
}

TEST_CASE("sampling controls outside of their ranges are refused, NaN among them") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto code_with = [](auto change) {
    auto row = good_row();
    change(row.how);
    return code_of(row);
  };
  for (const double bad : {-0.1, nan, inf})
    CHECK(code_with([&](sampling& how) { how.temperature = bad; }) == errc::invalid_argument);
  for (const double bad : {0.0, 1.1, nan})
    CHECK(code_with([&](sampling& how) { how.top_p = bad; }) == errc::invalid_argument);
  for (const double bad : {-0.1, 1.1, nan})
    CHECK(code_with([&](sampling& how) { how.min_p = bad; }) == errc::invalid_argument);
  for (const double bad : {0.0, nan, inf})
    CHECK(code_with([&](sampling& how) { how.repetition_penalty = bad; }) == errc::invalid_argument);
  for (const double bad : {nan, inf})
    CHECK(code_with([&](sampling& how) { how.logit_bias = {{1, bad}}; }) == errc::invalid_argument);
  CHECK(code_with([&](sampling& how) { how.logit_bias = {{1, -inf}}; }) == errc{});
  CHECK(code_with([&](sampling& how) { how.presence_penalty = nan; }) == errc::invalid_argument);
  CHECK(code_with([&](sampling& how) { how.frequency_penalty = inf; }) == errc::invalid_argument);
  CHECK(code_with([&](sampling& how) {
          how.temperature = 2;
          how.top_p = 0.1;
          how.min_p = 1;
        }) == errc{});
}

TEST_CASE("numbers that single precision turns into 0 or infinity are refused") {
  const auto code_with = [](auto set) {
    auto row = good_row();
    set(row.how);
    return code_of(row);
  };
  CHECK(code_with([](sampling& how) { how.temperature = 1e-60; }) == errc::invalid_argument);
  CHECK(code_with([](sampling& how) { how.temperature = 1e39; }) == errc::invalid_argument);
  CHECK(code_with([](sampling& how) { how.repetition_penalty = 1e-50; }) == errc::invalid_argument);
  CHECK(code_with([](sampling& how) { how.logit_bias = {{1, -1e39}}; }) == errc::invalid_argument);
  CHECK(code_with([](sampling& how) { how.temperature = 0; }) == errc{});
  CHECK(code_with([](sampling& how) { how.logit_bias = {{1, 1e38}}; }) == errc{});
}

TEST_CASE("continuations on an engine that cannot score are unsupported") {
  auto row = good_row();
  row.continuations = {{1}};
  auto about = small_engine();
  about.scoring = false;
  const auto checked = check_row(row, about, 10);
  REQUIRE_FALSE(checked);
  CHECK(const_cast<result<void>&>(checked).error().code == errc::unsupported);
}
