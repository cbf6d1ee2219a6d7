#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "run/budgeted_source.hpp"

using namespace evalcore;

namespace {

/// 1 USD per million tokens of any kind, so that a request of p tokens for an answer of up to m is bounded by
/// p + m million.
constexpr run::pico_usd each = 1'000'000;
constexpr run::price flat{each, each, each, each, each};

/// Hands out requests of 10 tokens whose answers have up to 90.
class requests final : public pool::source {
 public:
  explicit requests(std::size_t count) : count_(count) {}
  pool::pull next() override {
    if (given == count_) return pool::exhausted{};
    chat::request request;
    request.params.max_tokens = 90;
    return pool::work{given++, request, 0, 10};
  }
  void on_first_token(pool::item_id id) override { heard.push_back("first " + std::to_string(id)); }
  void on_retry(pool::item_id id, const error& /*why*/) override {
    heard.push_back("retry " + std::to_string(id));
  }
  void on_end(pool::item_id id, const result<chat::reply>& /*outcome*/) override {
    heard.push_back("end " + std::to_string(id));
  }
  void on_shared(const result<void>& /*outcome*/) override { heard.push_back("shared"); }

  std::size_t given = 0;
  std::vector<std::string> heard;

 private:
  std::size_t count_;
};

result<chat::reply> answer(std::uint64_t tokens) {
  chat::reply reply;
  reply.usage = {.prompt_tokens = 10,
                 .cached_tokens = 0,
                 .completion_tokens = tokens,
                 .reasoning_tokens = 0,
                 .cache_write_tokens = 0};
  return reply;
}

bool sends(pool::source& from) { return std::holds_alternative<pool::work>(from.next()); }
bool waits(pool::source& from) { return std::holds_alternative<pool::hold>(from.next()); }
bool is_over(pool::source& from) { return std::holds_alternative<pool::exhausted>(from.next()); }

}  // namespace

TEST_CASE("what is in flight counts with the most that it can cost") {
  requests from(10);
  run::budgeted_source at(from, 10, flat, true, 0, 250 * each);
  CHECK(sends(at));
  CHECK(sends(at));
  // 100 + 100 + 100 would be more than 250.
  CHECK(waits(at));
  CHECK(waits(at));
  CHECK(from.given == 3);
  CHECK(at.bound(0) == 100 * each);
  // It cost 20: 20 + 100 + 100 fit.
  at.on_end(0, answer(10));
  CHECK(sends(at));
  CHECK(waits(at));
  CHECK_FALSE(at.stopped());
}

TEST_CASE("the run ends when nothing is in flight and the next request does not fit") {
  requests from(10);
  run::budgeted_source at(from, 10, flat, true, 0, 150 * each);
  CHECK(sends(at));
  CHECK(waits(at));
  at.on_end(0, answer(50));  // 60: the next might bring it to 160.
  CHECK(is_over(at));
  CHECK(at.stopped());
  CHECK(is_over(at));
}

TEST_CASE("what earlier runs spent counts") {
  requests from(10);
  run::budgeted_source at(from, 10, flat, true, 51 * each, 150 * each);
  CHECK(is_over(at));
  CHECK(at.stopped());
  requests others(1);
  run::budgeted_source just(others, 1, flat, true, 50 * each, 150 * each);
  CHECK(sends(just));
  CHECK(is_over(just));
  CHECK_FALSE(just.stopped());
}

TEST_CASE("an attempt that may be billed although it failed is taken for paid, a refused one is not") {
  requests from(10);
  run::budgeted_source at(from, 10, flat, true, 0, 250 * each);
  CHECK(sends(at));
  at.on_retry(0, fail(errc::rate_limited, stage::first_byte, "slow down"));
  CHECK(sends(at));
  at.on_end(1, answer(0));                                          // 10
  at.on_retry(0, fail(errc::truncated, stage::body, "broke off"));  // 100
  // 10 + 100 + 100 in flight leave no 100.
  CHECK(waits(at));
  at.on_end(0, fail(errc::overloaded, stage::first_byte, "gone"));
  CHECK(sends(at));
}

TEST_CASE("an answer without counts is taken for as dear as it can be") {
  requests from(10);
  run::budgeted_source at(from, 10, flat, true, 0, 199 * each);
  CHECK(sends(at));
  at.on_end(0, chat::reply{});
  CHECK(is_over(at));
  CHECK(at.stopped());
}

TEST_CASE("without a bound on the cost everything goes out, and the source hears of all") {
  requests from(2);
  run::budgeted_source at(from, 2, flat, true, 0, std::nullopt);
  CHECK(sends(at));
  CHECK(sends(at));
  CHECK(is_over(at));
  at.on_first_token(1);
  at.on_retry(1, fail(errc::timeout, stage::body, "late"));
  at.on_end(1, answer(1));
  at.on_shared({});
  CHECK(from.heard == std::vector<std::string>{"first 1", "retry 1", "end 1", "shared"});
  CHECK_FALSE(at.stopped());
}
