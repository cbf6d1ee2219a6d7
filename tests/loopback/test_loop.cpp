#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <evalcore/net/loop.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

TEST_CASE("tasks run on the loop, in the order of the calls") {
  net::loop loop;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) loop.post([&order, i] { order.push_back(i); });
  // Posted from the loop after the others: still behind them and before what follows.
  loop.run_and_wait([&] { loop.post([&order] { order.push_back(1000); }); });
  bool inside = false;
  loop.run_and_wait([&] { inside = loop.in_loop(); });
  CHECK(inside);
  CHECK_FALSE(loop.in_loop());
  std::vector<int> expected(1001);
  for (int i = 0; i <= 1000; ++i) expected[static_cast<std::size_t>(i)] = i;
  CHECK(order == expected);
}

TEST_CASE("waiting from the loop itself just runs the task") {
  net::loop loop;
  int ran = 0;
  loop.run_and_wait([&] { loop.run_and_wait([&] { ++ran; }); });
  CHECK(ran == 1);
}

TEST_CASE("a task's exception reaches who waits for it") {
  net::loop loop;
  CHECK_THROWS_AS(loop.run_and_wait([] { throw std::logic_error("a programming error"); }), std::logic_error);
  bool alive = false;
  loop.run_and_wait([&] { alive = true; });
  CHECK(alive);
}

TEST_CASE("timers fire once, in the order of their delays") {
  net::loop loop;
  std::vector<int> fired;
  std::promise<void> last;
  loop.run_and_wait([&] {
    loop.after(40ms, [&] {
      fired.push_back(2);
      last.set_value();
    });
    loop.after(10ms, [&] { fired.push_back(1); });
    loop.after(duration::max(), [&] { fired.push_back(3); });
  });
  REQUIRE(last.get_future().wait_for(20s) == std::future_status::ready);
  CHECK(fired == std::vector<int>{1, 2});
}

TEST_CASE("a cancelled timer does not fire, not even when it is already due") {
  net::loop loop;
  std::vector<int> fired;
  std::promise<void> last;
  loop.run_and_wait([&] {
    const auto second = std::make_shared<net::loop::timer_id>();
    // Both are due in the same turn; the first cancels the second.
    loop.after(5ms, [&, second] {
      fired.push_back(1);
      loop.cancel(*second);
      loop.cancel(*second);
    });
    *second = loop.after(5ms, [&] { fired.push_back(2); });
    std::this_thread::sleep_for(20ms);
    loop.after(40ms, [&] { last.set_value(); });
  });
  REQUIRE(last.get_future().wait_for(20s) == std::future_status::ready);
  CHECK(fired == std::vector<int>{1});
}

TEST_CASE("the destructor drops what was posted and what was timed") {
  const auto token = std::make_shared<int>(0);
  std::atomic<bool> ran = false;
  std::promise<void> gate;
  std::thread opener;
  {
    net::loop loop;
    loop.run_and_wait([&] { loop.after(1h, [token, &ran] { ran = true; }); });
    // While this task blocks the loop, the destructor stops it; what stands behind is never run.
    loop.post([opened = gate.get_future().share()] { opened.wait(); });
    for (int i = 0; i < 10; ++i) loop.post([token] {});
    opener = std::thread([&gate] {
      std::this_thread::sleep_for(50ms);
      gate.set_value();
    });
  }
  opener.join();
  CHECK(token.use_count() == 1);
  CHECK_FALSE(ran);
}

TEST_CASE("the host's signal mask stays as it was, and the loop takes no signals") {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  net::loop loop;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int number = 1; number < NSIG; ++number)
    CHECK(sigismember(&before, number) == sigismember(&after, number));

  sigset_t inside;
  loop.run_and_wait([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGALRM, SIGUSR1}) {
    CHECK(sigismember(&inside, number) == 1);
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) CHECK(sigismember(&inside, number) == 0);
}
