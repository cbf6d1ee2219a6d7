#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "net/exchange_machine.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using net::exchange_machine;
using action = exchange_machine::action;

namespace {

const instant zero{};
const net::deadlines bounds{5s, 600s, 120s, 900s};

exchange_machine machine(const net::deadlines& how = bounds) { return {how, "127.0.0.1:8080", zero}; }

error broken() { return fail(errc::transport, stage::none, "connection reset by peer"); }

net::http_head head_with(std::string keep_alive) {
  net::http_head head;
  head.status = 200;
  if (!keep_alive.empty()) head.headers = {{"Keep-Alive", std::move(keep_alive)}};
  return head;
}

/// Brings an exchange on a new connection to a named point; each step takes a second.
exchange_machine at(const std::string& point, const net::deadlines& how = bounds) {
  auto one = machine(how);
  one.begin(false, zero);
  if (point == "connecting") return one;
  one.connected(zero + 1s);
  if (point == "sending") return one;
  one.written(true, zero + 2s);
  if (point == "waiting") return one;
  one.received(zero + 3s);
  return one;
}

}  // namespace

TEST_CASE("an exchange on a new connection") {
  auto one = machine();
  CHECK(one.begin(false, zero) == action::connect);
  CHECK(one.connected(zero + 1s) == action::send);
  one.written(true, zero + 1s);
  one.received(zero + 2s);
  CHECK(one.completed(true, head_with("")) == action::end);
  CHECK(one.outcome());
  CHECK(one.keep_for() == std::optional<duration>(30s));
  CHECK_FALSE(one.deadline());
}

TEST_CASE("an exchange on a kept connection sends at once") {
  auto one = machine();
  CHECK(one.begin(true, zero) == action::send);
  one.written(true, zero);
  one.received(zero + 1s);
  CHECK(one.completed(true, head_with("")) == action::end);
  CHECK(one.outcome());
}

TEST_CASE("each point has its deadline, its stage and its words") {
  struct row {
    std::string point;
    duration due;  ///< Since the start: the bound plus the seconds that the way there took.
    stage where;
    std::string message;
  };
  const std::vector<row> rows{
      {"connecting", 5s, stage::connect, "no connection to 127.0.0.1:8080 within 5 s (connect deadline)"},
      {"sending", 121s, stage::send, "127.0.0.1:8080 took nothing of the request for 120 s (idle deadline)"},
      {"waiting", 602s, stage::first_byte, "127.0.0.1:8080 sent nothing for 600 s (first-byte deadline)"},
      {"receiving", 123s, stage::body, "127.0.0.1:8080 fell silent for 120 s in its answer (idle deadline)"},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.point);
    auto one = at(expected.point);
    CHECK(one.deadline() == std::optional<instant>(zero + expected.due));
    CHECK(one.expired(zero + expected.due - 1ns) == action::wait);
    CHECK_FALSE(one.ended());
    CHECK(one.expired(zero + expected.due) == action::end);
    REQUIRE_FALSE(one.outcome());
    CHECK(one.outcome().error().code == errc::timeout);
    CHECK(one.outcome().error().at == expected.where);
    CHECK(one.outcome().error().message == expected.message);
    CHECK_FALSE(one.keep_for());
  }
}

TEST_CASE("the attempt is bounded wherever it stands") {
  const net::deadlines attempt_only{0s, 0s, 0s, 1500ms};
  const std::vector<std::pair<std::string, stage>> rows{{"connecting", stage::connect},
                                                        {"sending", stage::send},
                                                        {"waiting", stage::first_byte},
                                                        {"receiving", stage::body}};
  for (const auto& [point, where] : rows) {
    auto one = at(point, attempt_only);
    CHECK(one.deadline() == std::optional<instant>(zero + 1500ms));
    CHECK(one.expired(zero + 1500ms) == action::end);
    CHECK(one.outcome().error().at == where);
    CHECK(one.outcome().error().message ==
          "the exchange with 127.0.0.1:8080 took longer than 1.5 s (attempt deadline)");
  }
}

TEST_CASE("no bound and a bound beyond the clock's end never expire") {
  for (const duration never : {duration::zero(), duration::max()}) {
    auto one = at("waiting", {never, never, never, never});
    CHECK_FALSE(one.deadline());
    CHECK(one.expired(instant::max()) == action::wait);
  }
}

TEST_CASE("each piece puts the idle deadline off, and never the attempt's") {
  auto one = at("receiving");
  for (int second = 100; second <= 800; second += 100) {
    CHECK(one.expired(zero + std::chrono::seconds(second)) == action::wait);
    one.received(zero + std::chrono::seconds(second));
  }
  CHECK(one.deadline() == std::optional<instant>(zero + 900s));
  CHECK(one.expired(zero + 900s) == action::end);
}

TEST_CASE("each part written puts off the deadline of sending") {
  auto one = at("sending");
  one.written(false, zero + 100s);
  CHECK(one.deadline() == std::optional<instant>(zero + 220s));
  one.written(true, zero + 200s);
  CHECK(one.deadline() == std::optional<instant>(zero + 800s));
}

TEST_CASE("a kept connection that fails before an answer costs one resend") {
  for (const bool whole_request_written : {false, true}) {
    auto one = machine();
    one.begin(true, zero);
    one.written(whole_request_written, zero);
    CHECK(one.failed(broken(), zero + 1s) == action::connect);
    CHECK_FALSE(one.ended());
    CHECK(one.deadline() == std::optional<instant>(zero + 6s));
    CHECK(one.connected(zero + 2s) == action::send);
    CHECK(one.failed(broken(), zero + 3s) == action::end);
    CHECK(one.outcome().error().code == errc::transport);
  }
}

TEST_CASE("the resend does not start the attempt again") {
  auto one = machine();
  one.begin(true, zero);
  one.written(true, zero);
  one.failed(broken(), zero + 500s);
  one.connected(zero + 500s);
  one.written(true, zero + 500s);
  CHECK(one.deadline() == std::optional<instant>(zero + 900s));
}

TEST_CASE("what is no race is not sent again") {
  SUBCASE("a byte of the answer was seen") {
    auto one = machine();
    one.begin(true, zero);
    one.written(true, zero);
    one.received(zero + 1s);
    CHECK(one.failed(broken(), zero + 2s) == action::end);
  }
  SUBCASE("the connection was new") { CHECK(at("waiting").failed(broken(), zero + 3s) == action::end); }
  SUBCASE("the server was silent") {
    auto one = machine();
    one.begin(true, zero);
    one.written(true, zero);
    CHECK(one.expired(zero + 600s) == action::end);
  }
  SUBCASE("the request cannot be sent at all") {
    auto one = machine();
    one.begin(true, zero);
    CHECK(one.failed(fail(errc::invalid_argument, stage::config, "no"), zero) == action::end);
  }
}

TEST_CASE("a break without a stage gets that of the exchange") {
  for (const auto& [point, where] : std::vector<std::pair<std::string, stage>>{{"connecting", stage::connect},
                                                                               {"sending", stage::send},
                                                                               {"waiting", stage::first_byte},
                                                                               {"receiving", stage::body}}) {
    auto one = at(point);
    one.failed(broken(), zero + 4s);
    CHECK(one.outcome().error().at == where);
  }
  auto one = at("receiving");
  one.failed(fail(errc::bad_reply, stage::first_byte, "no"), zero + 4s);
  CHECK(one.outcome().error().at == stage::first_byte);
}

TEST_CASE("an exchange ends once") {
  auto one = at("receiving");
  CHECK(one.cancel() == action::end);
  CHECK(one.outcome().error().code == errc::cancelled);
  one.received(zero + 4s);
  one.written(true, zero + 4s);
  CHECK(one.completed(true, head_with("")) == action::end);
  CHECK(one.failed(broken(), zero + 4s) == action::end);
  CHECK(one.expired(zero + 10'000s) == action::end);
  CHECK(one.close() == action::end);
  CHECK(one.begin(true, zero + 5s) == action::end);
  CHECK(one.connected(zero + 5s) == action::end);
  CHECK(one.outcome().error().code == errc::cancelled);
  CHECK_FALSE(one.keep_for());
}

TEST_CASE("a client that goes away ends its exchanges with closed") {
  auto one = at("waiting");
  CHECK(one.close() == action::end);
  CHECK(one.outcome().error().code == errc::closed);
}

TEST_CASE("a connection is kept for as long as the server says, less a second") {
  // The field is defined in RFC 2068, section 19.7.1.1; the values are those of servers in use.
  struct row {
    std::string keep_alive;
    std::optional<duration> life;
  };
  const std::vector<row> rows{
      {"", 30s},
      {"timeout=5", 4s},
      {"timeout=5, max=100", 4s},
      {"max=100, timeout=75", 74s},
      {"max=1;timeout=5", 30s},
      {"Timeout = 20", 19s},
      {"timeout=1", std::nullopt},
      {"timeout=0", std::nullopt},
      {"timeout=soon", 30s},
      {"timeout=-5", 30s},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.keep_alive);
    auto one = at("receiving");
    one.completed(true, head_with(expected.keep_alive));
    CHECK(one.keep_for() == expected.life);
  }
}

TEST_CASE("a connection is closed when it is not at a clean start") {
  auto unfit = at("receiving");
  unfit.completed(false, head_with("timeout=5"));
  CHECK_FALSE(unfit.keep_for());

  auto half_sent = at("sending");
  half_sent.written(false, zero + 2s);
  half_sent.received(zero + 3s);
  CHECK(half_sent.completed(true, head_with("")) == action::end);
  CHECK(half_sent.outcome());
  CHECK_FALSE(half_sent.keep_for());
}

TEST_CASE("an answer may begin while the request is still being sent") {
  auto one = at("sending");
  one.received(zero + 2s);
  one.written(true, zero + 3s);
  CHECK(one.deadline() == std::optional<instant>(zero + 122s));
  one.completed(true, head_with(""));
  CHECK(one.keep_for() == std::optional<duration>(30s));
}
