// F01, F02, F03, F14, F21: what servers say by status, header or error object.
#include <algorithm>
#include <ctime>
#include <utility>

#include "faults/cases.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

std::string http_date(system_clock::time_point at) {
  const std::time_t seconds = system_clock::to_time_t(at);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

/// Answers the first `count` requests with `first`, then well.
std::vector<test::script> first_then_good(const form& how, std::size_t count, const test::script& first) {
  std::vector<test::script> scripts(count + 1, first);
  scripts.front() = models(how);
  scripts.push_back(good(how));
  return scripts;
}

setup asking(const test::fault_server& server, const form& how) {
  setup one;
  one.url = server.url();
  one.how = how;
  return one;
}

}  // namespace

void retry_after(const form& how, judge& verdict) {
  enum : std::size_t { in_seconds, in_ms, as_date, zero, infinite, hours, kinds };
  const std::size_t kind = how.number / 4 % kinds;
  // Full seconds are all that a date can say.
  const auto date = std::chrono::floor<std::chrono::seconds>(system_clock::now()) + 2s;
  const std::string headers[kinds] = {
      "Retry-After: 1\r\n", "retry-after-ms: 300\r\n", "Retry-After: " + http_date(date) + "\r\n",
      "Retry-After: 0\r\n", "Retry-After: inf\r\n",    "Retry-After: 10800\r\n"};
  const test::script busy{
      test::send(refusal(429, headers[kind], error_object("rate_limit_error", "slow down")))};
  const test::fault_server server(first_then_good(how, 1, busy));
  auto asks = asking(server, how);
  asks.items = 3;
  asks.pool.max_in_flight = 1;
  asks.pool.retry.max_wait = 2s;
  asks.pool.total_deadline = 3s;
  const auto seen = client(asks).run();
  const auto at = server.arrivals();
  if (kind == hours) {
    verdict.ends(seen);
    verdict.must(at.size() == 2, "asked again within a wait of three hours");
    verdict.must(!seen.ends.at(0).outcome && seen.ends.at(0).outcome.error().code == errc::quota,
                 "a wait that is too long did not end the item");
    return;
  }
  verdict.answered(seen);
  verdict.must(at.size() == 5, std::to_string(at.size()) + " requests for three items and one refusal");
  if (at.size() < 3) return;
  const auto earliest = kind == in_seconds ? at[1] + 1s : kind == in_ms ? at[1] + 300ms : at[1];
  // Nothing of any item is sent there within the wait.
  verdict.must(at[2] >= (kind == as_date ? system_clock::time_point(date) : earliest),
               "asked before the wait was over");
}

void passing_statuses(const form& how, judge& verdict) {
  constexpr std::array statuses{500, 502, 503, 504, 529, 408, 409, 425};
  const int status = statuses[how.number / 4 % statuses.size()];
  const bool passes = how.number / 4 / statuses.size() % 2 == 0;
  const test::script failing{test::send(refusal(status, "", error_object("api_error", "try again")))};
  const test::fault_server server(first_then_good(how, passes ? 2 : 100, failing));
  auto asks = asking(server, how);
  const auto seen = client(asks).run();
  const auto at = server.arrivals();
  const auto ways = {errc::backend_fault, errc::overloaded, errc::timeout};
  if (passes) {
    verdict.answered_after(seen, ways);
    verdict.must(at.size() == 4, std::to_string(at.size() - 1) + " requests for two failures");
  } else {
    verdict.failed(seen, ways, asks.pool.retry.retries + 1);
  }
  // Each delay is at least three quarters of its double, which is more than the whole of the one before.
  auto least = asks.pool.retry.first_delay * 3 / 4;
  for (std::size_t i = 2; i < at.size(); ++i, least *= 2) {
    verdict.must(at[i] - at[i - 1] >= least, "the delays do not grow");
  }
}

void final_statuses(const form& how, judge& verdict) {
  struct kind {
    int status;
    const char* type;
    errc code;
  };
  constexpr std::array kinds{kind{400, "invalid_request_error", errc::invalid_request},
                             kind{401, "authentication_error", errc::auth},
                             kind{403, "permission_error", errc::auth},
                             kind{404, "not_found_error", errc::invalid_request},
                             kind{413, "request_too_large", errc::invalid_request},
                             kind{422, "invalid_request_error", errc::invalid_request},
                             kind{429, "insufficient_quota", errc::quota}};
  const kind& one = kinds[how.number / 4 % kinds.size()];
  const test::script no{test::send(refusal(one.status, "", error_object(one.type, "no")))};
  const test::fault_server server(first_then_good(how, 1, no));
  verdict.failed(client(asking(server, how)).run(), {one.code}, 1);
}

void errors_within_answers(const form& how, judge& verdict) {
  struct kind {
    const char* type;
    errc code;
  };
  constexpr std::array kinds{
      kind{"api_error", errc::backend_fault}, kind{"overloaded_error", errc::overloaded},
      kind{"rate_limit_error", errc::rate_limited}, kind{"invalid_request_error", errc::invalid_request},
      kind{"authentication_error", errc::auth}};
  const kind& one = kinds[how.number / 4 % kinds.size()];
  const std::string object = error_object(one.type, "the server has a problem");
  std::string content = object;
  if (how.streamed) {
    auto all = events(how);
    all.resize(1 + how.number % (all.size() - 3));  // After some of the answer, before its end.
    all.push_back({how.messages ? "error" : "", object});
    content = written(all);
  }
  const test::fault_server server(first_then_good(how, 1, {test::send(whole(how, content))}));
  const auto seen = client(asking(server, how)).run();
  if (retryable(one.code)) {
    verdict.answered_after(seen, {one.code});
  } else {
    verdict.failed(seen, {one.code}, 1);
  }
}

void redirects(const form& how, judge& verdict) {
  constexpr std::array statuses{301, 302, 303, 307, 308};
  const int status = statuses[how.number / 4 % statuses.size()];
  const test::fault_server elsewhere({good(how)});
  const std::array<std::string, 4> targets{"/v1/elsewhere", elsewhere.url() + "/collect", "?again",
                                           "file:///etc/passwd"};
  const std::string& target = targets[how.number % 5 % targets.size()];
  const test::script moved{test::send(refusal(status, "Location: " + target + "\r\n", ""))};
  const test::fault_server server(first_then_good(how, 1, moved));
  verdict.failed(client(asking(server, how)).run(), {errc::invalid_request}, 1);
  verdict.must(elsewhere.connections() == 0, "the prompt went to another origin");
  verdict.must(server.requests().size() == 2, "the redirect was followed");
}

}  // namespace evalcore::faults
