// F04 to F08, F23: how connections fail.
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "faults/cases.hpp"
#include "faults/own_network.hpp"
#include "loopback/name_table.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;
using test::fault_server;

setup asking(const std::string& url, const form& how) {
  setup one;
  one.url = url;
  one.how = how;
  return one;
}

/// A server that is there only until the backend has met it.
std::unique_ptr<fault_server> first_met(const form& how, const test::place& at = {}) {
  return std::make_unique<fault_server>(std::vector{models(how), good(how)}, fault_server::manner::answers,
                                        at);
}

std::string port_of(const fault_server& server) { return std::to_string(server.port()); }

}  // namespace

void outage(const form& how, judge& verdict) {
  constexpr std::size_t items = 64;
  const bool refuses = how.number / 4 % 2 == 0;
  std::vector<test::script> scripts(13,
                                    {test::send(refusal(503, "", error_object("overloaded_error", "down")))});
  scripts.front() = models(how);
  scripts.push_back(good(how));
  auto server = std::make_unique<fault_server>(refuses ? std::vector{models(how), good(how)} : scripts);
  auto asks = asking(server->url(), how);
  asks.items = items;
  asks.pool.total_deadline = 8s;
  asks.pool.breaker.failures = 4;
  asks.pool.breaker.first_probe = 60ms;
  asks.pool.breaker.longest_probe = 250ms;
  client host(asks);
  std::thread bring_back;
  if (refuses) {
    const auto port = server->port();
    server.reset();
    bring_back = std::thread([&, port] {
      std::this_thread::sleep_for(600ms);
      server = std::make_unique<fault_server>(std::vector<test::script>{good(how)},
                                              fault_server::manner::answers, test::place{.port = port});
    });
  }
  const auto seen = host.run();
  if (bring_back.joinable()) bring_back.join();
  verdict.answered(seen);
  verdict.must(seen.ends.size() == items, "not every item ended");
  verdict.must(seen.ejections >= 1, "the breaker did not open");
  // All that were out when it opened, and the probes.
  const std::size_t most = items * 6 / 5;
  verdict.must(seen.sent <= (refuses ? most : items + 12), std::to_string(seen.sent) + " attempts");
}

void disconnects(const form& how, judge& verdict) {
  const std::string part = head(how) + "Content-Length: 100000\r\n\r\n" + cut_body(how);
  const std::array<test::script, 6> ends{
      test::script{test::close()},
      test::script{test::reset()},
      test::script{test::send(head(how)), test::close()},
      test::script{test::send(head(how)), test::pause(20ms), test::reset()},
      test::script{test::send(part), test::close()},
      test::script{test::send(part), test::pause(20ms), test::reset()},
  };
  const auto& end = ends[how.number / 4 % ends.size()];
  const auto ways = {errc::transport, errc::truncated};
  const bool once = how.number / 4 / ends.size() % 2 == 0;
  std::vector<test::script> scripts{models(how), end};
  // A kept connection that ends without a byte may have been closed before: its request is sent once more.
  if (once) scripts.insert(scripts.end(), {end, good(how)});
  const fault_server server(std::move(scripts));
  auto asks = asking(server.url(), how);
  const auto seen = client(asks).run();
  if (once) return verdict.answered_after(seen, ways);
  verdict.failed(seen, ways, asks.pool.retry.retries + 1);
}

void no_connection(const form& how, judge& verdict) {
  const bool refuses = how.number / 4 % 2 == 0;
  if (!refuses && !enter_own_network()) return verdict.skip();
  auto server = first_met(how);
  auto asks = asking(server->url(), how);
  asks.pool.retry.retries = refuses ? 3 : 0;
  asks.deadlines.connect = exact_deadline;
  client host(asks);
  if (!refuses && !filter_packets("tcp dport " + port_of(*server) + " drop")) return verdict.skip();
  server.reset();
  const auto seen = host.run();
  if (refuses) {
    verdict.failed(seen, {errc::transport}, 4);
    for (const auto& one : seen.attempts)
      verdict.must(one.took < asks.deadlines.connect / 2, "a refusal was waited for");
    return;
  }
  verdict.failed(seen, {errc::timeout}, 1);
  for (const auto& one : seen.attempts) verdict.near(seen, one, asks.deadlines.connect);
}

void packet_loss(const form& how, judge& verdict) {
  if (!enter_own_network()) return verdict.skip();
  // The kernel waits 200 ms for what it has to send again, and doubles that; here a tenth.
  if (!run_tool("ip link set lo mtu 1500") ||
      !run_tool("ip route change local 127.0.0.0/8 dev lo table local rto_min 20ms") ||
      !run_tool("ip route change local 127.0.0.1 dev lo table local rto_min 20ms")) {
    return verdict.skip();
  }
  const std::string padding = ",\"more\":\"" + std::string(40'000, 'x') + "\"";
  const fault_server server({models(how), {test::send(whole(how, body(how, good_text, padding)))}});
  auto asks = asking(server.url(), how);
  asks.pool.retry.retries = 7;
  asks.deadlines.connect = 250ms;
  asks.pool.total_deadline = 8s;
  client host(asks);
  if (!filter_packets("numgen random mod 100 < 20 drop")) return verdict.skip();
  verdict.answered(host.run());
}

void slow_link(const form& how, judge& verdict) {
  if (!enter_own_network()) return verdict.skip();
  const std::string padding = ",\"more\":\"" + std::string(6'000, 'x') + "\"";
  const fault_server server({models(how), {test::send(whole(how, body(how, good_text, padding)))}});
  auto asks = asking(server.url(), how);
  client host(asks);
  if (!run_tool("ip link set lo mtu 1000") ||
      !run_tool("tc qdisc add dev lo root tbf rate 64kbit burst 1540 latency 5s")) {
    return verdict.skip();
  }
  asks.deadlines.idle = 500ms;
  const auto seen = host.run();
  verdict.answered_at_once(seen);
  // 6,000 bytes at 8,000 a second, less the first burst.
  verdict.must(!seen.attempts.empty() && seen.attempts[0].took >= 500ms, "the link was not slow");
}

void names(const form& how, judge& verdict) {
  if (!enter_own_network()) return verdict.skip();
  enum : std::size_t { unknown, unknown_once, slow, too_slow, half_dead, kinds };
  const std::size_t kind = how.number / 4 % kinds;
  // Until the pool asks, the name is that of another server; its end is what makes the name looked up again.
  test::set_addresses("model.test", {"127.0.0.3"});
  auto other = first_met(how, {.address = "127.0.0.3"});
  const fault_server server({good(how)}, fault_server::manner::answers, {.port = other->port()});
  auto asks = asking("http://model.test:" + port_of(*other), how);
  asks.deadlines.connect = exact_deadline;
  asks.pool.total_deadline = 3s;
  asks.pool.retry.retries = kind == too_slow ? 1 : 3;
  client host(asks);
  other.reset();
  test::set_addresses("model.test", {"127.0.0.1"});
  if (kind == unknown || kind == unknown_once) test::set_addresses("model.test", {});
  if (kind == slow) test::set_lookup_time(300ms);
  if (kind == too_slow) test::set_lookup_time(exact_deadline + 300ms);
  if (kind == half_dead) {
    test::set_addresses("model.test", {"127.0.0.2", "127.0.0.1"});
    if (!filter_packets("ip daddr 127.0.0.2 drop")) return verdict.skip();
  }
  std::thread mend;
  if (kind == unknown_once) {
    mend = std::thread([] {
      std::this_thread::sleep_for(100ms);
      test::set_addresses("model.test", {"127.0.0.1"});
    });
  }
  const auto seen = host.run();
  if (mend.joinable()) mend.join();
  if (kind == unknown) return verdict.failed(seen, {errc::transport}, 4);
  if (kind == too_slow) {
    verdict.failed(seen, {errc::transport, errc::timeout}, 2);
    if (seen.attempts.size() == 2) verdict.near(seen, seen.attempts[1], asks.deadlines.connect);
    return;
  }
  verdict.answered_after(seen, {errc::transport});
  if (kind == half_dead && seen.attempts.size() > 1) {
    const auto took = seen.attempts[1].took;
    verdict.must(took >= 250ms && took <= 400ms + 2 * seen.machine_late,
                 "the second address was not tried after a quarter of a second");
  }
}

}  // namespace evalcore::faults
