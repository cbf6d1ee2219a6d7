// F09, F10, F11: when answers come.
#include <random>
#include <utility>

#include "faults/cases.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;

setup asking(const test::fault_server& server, const form& how) {
  setup one;
  one.url = server.url();
  one.how = how;
  return one;
}

/// Headers that promise more than the cut body, and the cut body.
std::string begun(const form& how) { return head(how) + "Content-Length: 100000\r\n\r\n" + cut_body(how); }

}  // namespace

void jitter(const form& how, judge& verdict) {
  std::mt19937 random(static_cast<std::uint32_t>(how.number));
  std::uniform_int_distribution<int> pause(0, 60);
  constexpr std::size_t items = 8;
  std::vector<test::script> scripts{models(how)};
  for (std::size_t i = 0; i < items; ++i) {
    // In the order of the requests, each with its own number; the first ones take longest.
    const std::string answer = whole(how, body(how, "answer " + std::to_string(i)));
    test::script acts{test::pause(std::chrono::milliseconds(60 * (items - i)))};
    constexpr std::size_t pieces = 8;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t from = answer.size() * piece / pieces;
      acts.push_back(test::send(answer.substr(from, answer.size() * (piece + 1) / pieces - from)));
      acts.push_back(test::pause(std::chrono::milliseconds(pause(random))));
    }
    scripts.push_back(std::move(acts));
  }
  const test::fault_server server(scripts);
  auto asks = asking(server, how);
  asks.items = items;
  asks.pool.max_in_flight = items;
  const auto seen = client(asks).run();
  const auto requests = server.requests();
  verdict.must(seen.attempts.size() == items, "asked again without need");
  for (const auto& [id, end] : seen.ends) {
    std::size_t answers = 0;
    for (std::size_t i = 1; i < requests.size(); ++i) {
      if (requests[i].find("item " + std::to_string(id) + ".") == std::string::npos) continue;
      record one{.drained = seen.drained, .deadline = seen.deadline};
      one.ends.emplace(id, end);
      verdict.ends(one, "answer " + std::to_string(i - 1));
      ++answers;
    }
    verdict.must(answers == 1 && end.outcome, "an item was not answered once");
  }
}

void stalls(const form& how, judge& verdict) {
  const test::fault_server server({models(how), {test::send(begun(how)), test::stall()}, good(how)});
  auto asks = asking(server, how);
  asks.deadlines.idle = exact_deadline;
  const auto seen = client(asks).run();
  verdict.answered_after(seen, {errc::timeout});
  if (!seen.attempts.empty()) verdict.near(seen, seen.attempts[0], asks.deadlines.idle);
}

void slow_first_token(const form& how, judge& verdict) {
  const std::string all = whole(how, body(how));
  const std::string start = head(how) + "Transfer-Encoding: chunked\r\n\r\n";
  enum : std::size_t { late, comments, never, kinds };
  std::size_t kind = how.number / 4 % kinds;
  if (kind == comments && !how.streamed) kind = late;
  test::script answer;
  if (kind == late) {
    answer = {test::pause(900ms), test::send(all)};
  } else if (kind == comments) {
    answer.push_back(test::send(start));
    for (int i = 0; i < 8; ++i) {
      answer.push_back(test::pause(120ms));
      answer.push_back(test::send("d\r\n: keep-alive\n\r\n"));
    }
    const std::string content = body(how);
    char size[32];
    std::snprintf(size, sizeof(size), "%zx\r\n", content.size());
    answer.push_back(test::send(size + content + "\r\n0\r\n\r\n"));
  } else {
    answer = {test::stall()};
  }
  const test::fault_server server({models(how), answer, good(how)});
  auto asks = asking(server, how);
  asks.deadlines.first_byte = exact_deadline;
  asks.deadlines.idle = 500ms;
  const auto seen = client(asks).run();
  if (kind != never) return verdict.answered_at_once(seen);
  verdict.answered_after(seen, {errc::timeout});
  if (!seen.attempts.empty()) verdict.near(seen, seen.attempts[0], asks.deadlines.first_byte);
}

}  // namespace evalcore::faults
