#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

#include "run/episode_budget.hpp"
#include "run/episode_live.hpp"
#include "run/episode_order.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

std::string next(run::episode_order& from) {
  const auto chosen = from.next();
  if (const auto* turn = std::get_if<run::episode_order::turn>(&chosen)) {
    return std::to_string(turn->episode) + (turn->slot ? "@" + std::to_string(*turn->slot) : "");
  }
  const auto* copy = std::get_if<run::episode_order::copy>(&chosen);
  if (copy == nullptr) return "-";
  std::string text = std::to_string(copy->from) + ">";
  for (const auto to : copy->to) text += std::to_string(to);
  return text;
}

chat::usage usage(std::optional<std::uint64_t> prompt, std::optional<std::uint64_t> completion) {
  chat::usage out;
  out.prompt_tokens = prompt;
  out.completion_tokens = completion;
  return out;
}

}  // namespace

TEST_CASE("an episode that has begun goes on before another begins, and so many are under way") {
  run::episode_order order({.bound = 2});
  for (const run::episode_number which : {1U, 2U, 3U, 4U}) order.ready(which, false);
  CHECK(next(order) == "1");
  CHECK(next(order) == "2");
  CHECK(next(order) == "-");  // Both places are taken, though no turn is ready.
  CHECK(order.under_way() == 2);
  order.ready(2, false);
  CHECK(next(order) == "2");
  order.end(1);
  order.ready(2, false);
  CHECK(next(order) == "2");
  CHECK(next(order) == "3");
  CHECK(next(order) == "-");
  order.end(2);
  CHECK(next(order) == "4");
}

TEST_CASE("what an earlier process began comes before what never began") {
  run::episode_order order({.bound = 1});
  order.ready(1, false);
  order.ready(2, true);
  order.ready(3, true);
  CHECK(next(order) == "2");
  order.end(2);
  CHECK(next(order) == "3");
  order.end(3);
  CHECK(next(order) == "1");
}

TEST_CASE("an episode keeps its slot until it ends, and then the next one has it") {
  run::episode_order order({.bound = 2, .slots = true});
  for (const run::episode_number which : {1U, 2U, 3U}) order.ready(which, false);
  CHECK(next(order) == "1@0");
  CHECK(next(order) == "2@1");
  order.ready(2, false);
  order.ready(1, false);
  CHECK(next(order) == "2@1");
  CHECK(next(order) == "1@0");
  order.end(2);
  CHECK(next(order) == "3@1");
}

TEST_CASE("a turn that is withdrawn does not go out, one that has gone is not withdrawn") {
  run::episode_order order({.bound = 1});
  order.ready(1, false);
  order.ready(2, false);
  CHECK(order.withdraw(1));
  CHECK_FALSE(order.withdraw(1));
  CHECK(next(order) == "2");
  CHECK_FALSE(order.withdraw(2));
  order.ready(1, false);
  order.end(1);  // Before it began.
  order.end(2);
  CHECK(next(order) == "-");
}

TEST_CASE("the first of a family leads: the others begin at its first token, and strangers do not wait") {
  run::episode_order order({.bound = 8});
  for (const run::episode_number which : {1U, 2U, 3U}) order.ready(which, false, 7);
  order.ready(4, false, 9);
  order.ready(5, false);
  CHECK(next(order) == "1");
  CHECK(next(order) == "4");
  CHECK(next(order) == "5");
  CHECK(next(order) == "-");
  order.first_token(4);  // Nobody waits for that one.
  CHECK(next(order) == "-");
  order.first_token(1);
  CHECK(next(order) == "2");
  CHECK(next(order) == "3");
  order.ready(6, false, 7);  // The prefix stays known.
  CHECK(next(order) == "6");
}

TEST_CASE("when a leader fails or is given up, the next of its family leads") {
  run::episode_order order({.bound = 8});
  for (const run::episode_number which : {1U, 2U, 3U, 4U}) order.ready(which, false, 7);
  CHECK(next(order) == "1");
  CHECK(next(order) == "-");
  order.turn_ended(1, false);
  CHECK(next(order) == "2");
  CHECK(next(order) == "-");
  order.end(2);
  CHECK(next(order) == "3");
  order.turn_ended(3, true);
  CHECK(next(order) == "4");
}

TEST_CASE(
    "where slots can be copied, the leader's is copied into as many as wait, before anything else goes out") {
  run::episode_order order({.bound = 4, .slots = true, .can_share = true});
  for (const run::episode_number which : {1U, 2U, 3U}) order.ready(which, false, 7);
  CHECK(next(order) == "1@0");
  order.first_token(1);  // The slot is not at rest before the end.
  CHECK(next(order) == "-");
  order.turn_ended(1, true);
  order.ready(1, false, 7);
  CHECK(next(order) == "0>12");
  CHECK(next(order) == "-");
  order.shared(true);
  CHECK(next(order) == "1@0");
  CHECK(next(order) == "2@1");
  CHECK(next(order) == "3@2");
  order.end(3);
  order.ready(4, false, 7);  // Where its family was before, not in the slot that nobody had.
  CHECK(next(order) == "4@2");
}

TEST_CASE(
    "who comes later has a copy of a slot that is at rest, and after a copy that failed there is none") {
  run::episode_order order({.bound = 4, .slots = true, .can_share = true});
  order.ready(1, false, 7);
  CHECK(next(order) == "1@0");
  order.turn_ended(1, true);
  CHECK(next(order) == "-");  // Nobody waits for a copy.
  order.ready(2, false, 7);
  CHECK(next(order) == "0>1");
  order.shared(true);
  CHECK(next(order) == "2@1");
  order.ready(1, false, 7);
  CHECK(next(order) == "1@0");
  order.ready(3, false, 7);  // Both are busy: it does not wait.
  CHECK(next(order) == "3@2");
  order.turn_ended(1, true);
  order.ready(4, false, 7);
  CHECK(next(order) == "0>3");
  order.shared(false);
  CHECK(next(order) == "4@3");
  order.end(2);
  order.end(4);
  order.ready(5, false, 7);
  CHECK(next(order) == "5@1");
}

TEST_CASE("where slots cannot be copied nobody waits, since each computes its prefix itself") {
  run::episode_order order({.bound = 2, .slots = true});
  order.ready(1, false, 7);
  order.ready(2, false, 7);
  CHECK(next(order) == "1@0");
  CHECK(next(order) == "2@1");
}

TEST_CASE("limits are met after the turn that reaches them, and unknown tokens meet none") {
  const instant start{1h};
  run::episode_limits limits;
  limits.turns = 2;
  limits.tokens = 100;
  run::episode_budget budget(limits);
  CHECK_FALSE(budget.met(start));
  budget.replied(usage(60, 39));
  CHECK_FALSE(budget.met(start));
  budget.replied(usage(std::nullopt, std::nullopt));
  CHECK(budget.met(start) == run::episode_end::turns);
  CHECK(budget.use().prompt_tokens == 60U);
  CHECK_FALSE(budget.use().cached_tokens);

  limits.turns.reset();
  run::episode_budget tokens(limits);
  tokens.replied(usage(std::nullopt, std::nullopt));
  CHECK_FALSE(tokens.met(start));
  tokens.replied(usage(60, 40));
  CHECK(tokens.met(start) == run::episode_end::tokens);
}

TEST_CASE("the time of an episode begins with its first request, and its cost is what the host adds") {
  const instant start{1h};
  run::episode_limits limits;
  limits.time = 10s;
  limits.cost = 0.5;
  run::episode_budget budget(limits);
  CHECK_FALSE(budget.deadline());
  CHECK_FALSE(budget.met(start));
  budget.sent(start);
  budget.sent(start + 5s);
  CHECK(budget.deadline() == start + 10s);
  CHECK_FALSE(budget.met(start + 9s));
  CHECK(budget.met(start + 10s) == run::episode_end::time);
  budget.spent(0.25);
  CHECK_FALSE(budget.met(start));
  budget.spent(0.25);
  CHECK(budget.met(start) == run::episode_end::cost);

  limits.time = duration::max();
  run::episode_budget endless(limits);
  endless.sent(start);
  CHECK_FALSE(endless.deadline());
}

TEST_CASE("a stored turn answers the same request; another request is the end of what is stored") {
  const auto turn = [](std::uint32_t number, const std::string& key) {
    run::turn_record out;
    out.turn = number;
    out.item.cache_key = key;
    return out;
  };
  const std::vector<run::turn_record> stored{turn(1, "a"), turn(2, "b")};
  CHECK(run::answer_of(stored, turn(1, "a"), true) == run::turn_answer::stored);
  CHECK(run::answer_of(stored, turn(2, "b"), false) == run::turn_answer::send);  // It was out at the crash.
  CHECK(run::answer_of(stored, turn(2, "c"), true) == run::turn_answer::diverged);
  CHECK(run::answer_of(stored, turn(3, "d"), false) == run::turn_answer::send);
}
