#include "faults/long_outage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <thread>

#include "faults/judge.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;
using test::fault_server;

double over_outage(bool somebody_listens) {
  constexpr std::uint64_t items = 1000;
  const form how{.messages = somebody_listens, .streamed = true, .number = 0};
  auto answer = good(how);
  answer.insert(answer.begin(), test::pause(50ms));
  auto server = std::make_unique<fault_server>(std::vector{models(how), answer});
  const test::place place{.port = server->port()};

  setup asks;
  asks.url = server->url();
  asks.how = how;
  asks.items = items;
  asks.pool = {};
  asks.pool.max_in_flight = 64;
  asks.pool.total_deadline = 60s;
  client host(asks);
  std::thread world([&] {
    std::this_thread::sleep_for(300ms);
    server.reset();
    const auto manner = fault_server::manner::answers;
    if (somebody_listens) {
      const std::vector<test::script> down{
          {test::send(refusal(503, "", error_object("overloaded_error", "")))}};
      server = std::make_unique<fault_server>(down, manner, place);
    }
    std::this_thread::sleep_for(10s);
    server.reset();
    server = std::make_unique<fault_server>(std::vector<test::script>{answer}, manner, place);
  });
  const auto seen = host.run();
  world.join();
  judge all;
  all.answered(seen);
  const double per_item = static_cast<double>(seen.sent) / static_cast<double>(items);
  std::fprintf(stderr, "outage of 10 s, %s: %.3f requests for each item %s\n",
               somebody_listens ? "503" : "refused", per_item, all.found().unkept.c_str());
  return all.found().clean() && seen.ends.size() == items ? per_item
                                                          : std::numeric_limits<double>::infinity();
}

}  // namespace

double requests_per_item_over_outage() {
  double refused = 0;
  std::thread other([&] { refused = over_outage(false); });
  const double busy = over_outage(true);
  other.join();
  return std::max(refused, busy);
}

}  // namespace evalcore::faults
