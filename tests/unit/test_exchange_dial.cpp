#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "net/dial_race.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using action = net::dial_race::action;

namespace {

constexpr instant zero{};

std::string told(net::dial_race::step step) {
  if (step.what == action::dial) return "dial " + std::to_string(step.index);
  return step.what == action::wait ? "wait" : "lost";
}

}  // namespace

TEST_CASE("a second address is tried a quarter of a second after a silent first") {
  net::dial_race race(3);
  CHECK(told(race.begin(zero)) == "dial 0");
  CHECK(race.deadline() == zero + 250ms);
  CHECK(told(race.expired(zero + 249ms)) == "wait");
  CHECK(told(race.expired(zero + 250ms)) == "dial 1");
  CHECK(race.deadline() == zero + 500ms);
  CHECK(told(race.expired(zero + 600ms)) == "dial 2");
  CHECK_FALSE(race.deadline());
  CHECK(told(race.expired(zero + 900ms)) == "wait");
}

TEST_CASE("a failed address gives way at once") {
  net::dial_race race(2);
  CHECK(told(race.begin(zero)) == "dial 0");
  CHECK(told(race.failed(zero + 1ms)) == "dial 1");
  CHECK(told(race.failed(zero + 2ms)) == "lost");
}

TEST_CASE("a race is lost only when its last address has failed") {
  net::dial_race race(2);
  CHECK(told(race.begin(zero)) == "dial 0");
  CHECK(told(race.expired(zero + 250ms)) == "dial 1");
  CHECK(told(race.failed(zero + 300ms)) == "wait");
  CHECK(told(race.failed(zero + 5s)) == "lost");
}

TEST_CASE("a race without addresses is lost, one with a single address has no deadline") {
  CHECK(told(net::dial_race(0).begin(zero)) == "lost");
  net::dial_race alone(1);
  CHECK(told(alone.begin(zero)) == "dial 0");
  CHECK_FALSE(alone.deadline());
}

TEST_CASE("the families of addresses take turns, the resolver's first choice leading") {
  // RFC 8305, section 4, with a First Address Family Count of 1.
  using order = std::vector<std::size_t>;
  CHECK(net::dial_order({}) == order{});
  CHECK(net::dial_order({false, false}) == order{0, 1});
  CHECK(net::dial_order({true, true, true, false, false}) == order{0, 3, 1, 4, 2});
  CHECK(net::dial_order({false, true, true}) == order{0, 1, 2});
  CHECK(net::dial_order({true, true, false}) == order{0, 2, 1});
}
