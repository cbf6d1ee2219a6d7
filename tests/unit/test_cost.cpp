#include <doctest/doctest.h>

#include <string>

#include <evalcore/run/cost.hpp>
#include <evalcore/run/plan_cost.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

constexpr run::pico_usd million = 1'000'000;

/// 4, 1, 5, 20 and 30 USD per million tokens.
constexpr run::price five_prices{4 * million, 1 * million, 5 * million, 20 * million, 30 * million};
/// Nothing but what every model has: 2 and 8 USD.
constexpr run::price two_prices{2 * million, 2 * million, 2 * million, 8 * million, 8 * million};

chat::request asking(const std::string& text, std::optional<std::uint32_t> max_tokens) {
  chat::request request;
  request.messages.push_back({.who = chat::role::user, .text = text});
  request.params.max_tokens = max_tokens;
  return request;
}

run::price priced(const std::string& entry) {
  const auto list = run::price_list::parse(R"({"usd_per_million_tokens":[)" + entry + "]}", "p.json");
  REQUIRE_MESSAGE(list, list.error().message);
  const auto found = list->find("m");
  REQUIRE(found);
  return *found;
}

std::string refusal(const std::string& text) {
  const auto list = run::price_list::parse(text, "p.json");
  REQUIRE_FALSE(list);
  CHECK(list.error().code == errc::invalid_argument);
  return list.error().message;
}

}  // namespace

TEST_CASE("each class of tokens has its price") {
  // 1000 of the prompt: 600 cached at 1, 150 written at 5, 250 fresh at 4 = 600 + 750 + 1000 = 2350.
  // 100 of the answer: 40 reasoning at 30, 60 at 20 = 1200 + 1200 = 2400. In all 0.00475 USD.
  const chat::usage used{.prompt_tokens = 1000,
                         .cached_tokens = 600,
                         .completion_tokens = 100,
                         .reasoning_tokens = 40,
                         .cache_write_tokens = 150};
  const auto spent = run::cost_of(used, five_prices);
  CHECK(spent.exact());
  CHECK(spent.least == 4750 * million);
  CHECK(run::in_usd(spent.least) == 0.00475);
}

TEST_CASE("a count that was not told matters only where a price depends on it") {
  const chat::usage bare{.prompt_tokens = 1000, .completion_tokens = 100};
  // 1000 at 2 and 100 at 8.
  CHECK(run::cost_of(bare, two_prices) == run::cost{2800 * million, 2800 * million});
  // The prompt all cached (1000) or all written (5000), the answer without (2000) or all reasoning (3000).
  CHECK(run::cost_of(bare, five_prices) == run::cost{3000 * million, 8000 * million});
  // 300 are cached; of the other 700 none (2800) or all (3500) were written.
  const chat::usage half{
      .prompt_tokens = 1000, .cached_tokens = 300, .completion_tokens = 0, .reasoning_tokens = 0};
  CHECK(run::cost_of(half, five_prices) == run::cost{3100 * million, 3800 * million});
}

TEST_CASE("what the backend does not count at all is a lower bound") {
  CHECK(run::cost_of(chat::usage{}, two_prices) == run::cost{0, std::nullopt});
  CHECK(run::cost_of(chat::usage{.prompt_tokens = 10}, two_prices) == run::cost{20 * million, std::nullopt});
  // Still paid: 40 cached at 1, 5 of reasoning at 30.
  CHECK(run::cost_of(chat::usage{.cached_tokens = 40, .reasoning_tokens = 5}, five_prices) ==
        run::cost{190 * million, std::nullopt});
}

TEST_CASE("counts that contradict each other give bounds, not a price") {
  // More cached than there is: the 10 cost 1 to 5 each, and the 30 may come on top at 1.
  CHECK(run::cost_of(
            chat::usage{
                .prompt_tokens = 10, .cached_tokens = 30, .completion_tokens = 0, .reasoning_tokens = 0},
            five_prices) == run::cost{10 * million, 80 * million});
  // Reasoning counted apart: 10 at 20 at least, 10 and 15 at 30 at most.
  CHECK(run::cost_of(chat::usage{.prompt_tokens = 0,
                                 .cached_tokens = 0,
                                 .completion_tokens = 10,
                                 .reasoning_tokens = 15,
                                 .cache_write_tokens = 0},
                     five_prices) == run::cost{200 * million, 750 * million});
}

TEST_CASE("a count that cannot be, such as -1 as 64 bits, tells nothing") {
  const chat::usage below_zero{.prompt_tokens = 10, .completion_tokens = UINT64_MAX};
  CHECK(run::cost_of(below_zero, two_prices) == run::cost{20 * million, std::nullopt});
}

TEST_CASE("costs add up, an unknown part makes the sum a lower bound, and no sum overflows") {
  run::cost sum{5, 7};
  sum += run::cost{1, 2};
  CHECK(sum == run::cost{6, 9});
  sum += run::cost{1, std::nullopt};
  CHECK(sum == run::cost{7, std::nullopt});
  sum += run::cost{1, 1};
  CHECK(sum == run::cost{8, std::nullopt});
  run::cost most{UINT64_MAX - 1, UINT64_MAX - 1};
  most += run::cost{5, 5};
  CHECK(most == run::cost{UINT64_MAX, UINT64_MAX});
  CHECK(run::times(UINT64_MAX / 2, 3) == UINT64_MAX);
}

TEST_CASE("the most that a request can cost: the dearest class of prompt and answer") {
  // 100 tokens at 5, 50 at 30.
  CHECK(run::cost_bound(asking("x", 50), 100, five_prices) == 2000 * million);
  CHECK_FALSE(run::cost_bound(asking("x", std::nullopt), 100, five_prices));
  // No token is shorter than a byte: at least the 1000 of the text count, at 2.
  const auto by_bytes = run::cost_bound(asking(std::string(1000, 'x'), 1), std::nullopt, two_prices);
  REQUIRE(by_bytes);
  CHECK(*by_bytes >= (2 * 1000 + 8) * million);
  CHECK(*by_bytes < (2 * 1200 + 8) * million);
  // Each choice may have a prompt of its own, and a token behind it.
  auto choosing = asking("x", std::nullopt);
  choosing.choices = {" a", " b", " c"};
  CHECK(run::cost_bound(choosing, 100, five_prices) == 3 * (500 + 30) * million);
  auto image = asking("what is this", 5);
  image.messages[0].image_urls.push_back("https://example.com/a.png");
  CHECK_FALSE(run::cost_bound(image, 100, five_prices));
}

TEST_CASE("a failure costs nothing where the backend refused, and up to the bound where it may have worked") {
  const auto failed = [](errc code, stage at) {
    return run::cost_of(result<chat::reply>(fail(code, at, "no")), 70, two_prices);
  };
  for (const auto code : {errc::rate_limited, errc::overloaded, errc::auth, errc::quota,
                          errc::invalid_request, errc::context_overflow}) {
    CHECK(failed(code, stage::first_byte) == run::cost{0, 0});
  }
  CHECK(failed(errc::transport, stage::connect) == run::cost{0, 0});
  for (const auto code : {errc::timeout, errc::truncated, errc::bad_reply, errc::backend_fault,
                          errc::transport, errc::cancelled, errc::refused_content}) {
    CHECK(failed(code, stage::body) == run::cost{0, 70});
  }
  CHECK(run::cost_of(result<chat::reply>(fail(errc::timeout, stage::body, "no")), std::nullopt, two_prices) ==
        run::cost{0, std::nullopt});
}

TEST_CASE("an answer without counts costs no more than its bound") {
  chat::reply silent;
  CHECK(run::cost_of(result<chat::reply>(silent), 900, two_prices) == run::cost{0, 900});
  CHECK(run::cost_of(result<chat::reply>(silent), std::nullopt, two_prices) == run::cost{0, std::nullopt});
  silent.usage = {.prompt_tokens = 1, .completion_tokens = 1};
  CHECK(run::cost_of(result<chat::reply>(silent), 900, two_prices) == run::cost{10 * million, 10 * million});
}

TEST_CASE("a price that a file leaves out is that of its kind") {
  CHECK(priced(R"({"model":"m","input":0.15,"output":0.6})") ==
        run::price{150'000, 150'000, 150'000, 600'000, 600'000});
  CHECK(priced(R"({"model":"m","input":3,"cached":0.3,"cache_write":3.75,"output":15,"reasoning":16})") ==
        run::price{3'000'000, 300'000, 3'750'000, 15'000'000, 16'000'000});
  CHECK(priced(R"({"model":"m","input":0,"output":0})") == run::price{});
}

TEST_CASE("the first entry that fits counts, and * stands for any text") {
  const auto list = run::price_list::parse(
      R"({"note":"made up","usd_per_million_tokens":[
          {"model":"big","input":1,"output":1},
          {"model":"big-*-mini","input":2,"output":2},
          {"model":"*/big-*","input":3,"output":3,"note":"elsewhere"},
          {"model":"big-*","input":4,"output":4}]})",
      "p.json");
  REQUIRE(list);
  const auto input = [&](std::string_view model) { return list->find(model)->input / million; };
  CHECK(input("big") == 1);
  CHECK(input("big-2-mini") == 2);
  CHECK(input("big-mini-mini") == 2);
  CHECK(input("vendor/big-2") == 3);
  CHECK(input("big-2") == 4);
  CHECK(input("big-") == 4);
  const auto none = list->find("small");
  REQUIRE_FALSE(none);
  CHECK(none.error().message ==
        "p.json has no price for the model \"small\"; add an entry of that name, or of a pattern such as "
        "\"*\"");
}

TEST_CASE("a price file that could mean something else is refused by name") {
  CHECK(refusal("[]").find("p.json: not a price file: wants") == 0);
  CHECK(refusal("{").find("p.json: not a price file: ") == 0);
  CHECK(refusal(R"({"usd_per_million_tokens":[]})").find("p.json: not a price file") == 0);
  CHECK(refusal(R"({"prices":1,"usd_per_million_tokens":[{"model":"m","input":1,"output":1}]})") ==
        "p.json: unknown member \"prices\"");
  const auto entry = [](const std::string& text) {
    return refusal(R"({"usd_per_million_tokens":[{"model":"a","input":1,"output":1},)" + text + "]}");
  };
  CHECK(entry("1") == "p.json: entry 2: not an object");
  CHECK(entry(R"({"input":1,"output":1})") == "p.json: entry 2: lacks \"model\"");
  CHECK(entry(R"({"model":"m","output":1})") == "p.json: entry 2: lacks \"input\"");
  CHECK(entry(R"({"model":"m","input":1})") == "p.json: entry 2: lacks \"output\"");
  CHECK(entry(R"({"model":"m","input":1,"ouput":1})")
            .find("unknown member \"ouput\"; there are: model, input") != std::string::npos);
  for (const char* bad : {"-1", "\"1\"", "null", "10001"}) {
    CHECK(entry(R"({"model":"m","output":1,"input":)" + std::string(bad) + "}") ==
          "p.json: entry 2: \"input\" must be a number from 0 to 10000, in USD per million tokens");
  }
  // A price twice: which of them?
  CHECK(
      refusal(R"({"usd_per_million_tokens":[{"model":"m","input":1,"input":2,"output":1}]})").find("input") !=
      std::string::npos);
  const auto missing = run::price_list::open("/no/such/prices.json");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message ==
        "cannot read the price file /no/such/prices.json: No such file or directory; check --price");
}

TEST_CASE("an amount shows four digits after the point, or three figures of a small one") {
  CHECK(run::usd_text(run::pico_usd{0}) == "0.0000 USD");
  CHECK(run::usd_text(12'345'678 * million) == "12.3457 USD");
  CHECK(run::usd_text(1'234 * million) == "0.00123 USD");
  CHECK(run::usd_text(run::pico_usd{5}) == "0.000000000005 USD");
  CHECK(run::usd_text(run::cost{20'000 * million, 20'000 * million}) == "0.0200 USD");
  CHECK(run::usd_text(run::cost{20'000 * million, 50'000 * million}) == "0.0200 to 0.0500 USD");
  CHECK(run::usd_text(run::cost{20'000 * million, std::nullopt}) == "at least 0.0200 USD");
}

TEST_CASE("a plan's cost: prompts but for what will be cached, answers by their bound or their length") {
  prefix::plan plan{.exact = true, .total_units = 1000};
  prefix::prediction prediction{.total_cached = 600};
  const std::optional<std::uint32_t> lengths[] = {100, 50};
  // 400 at 4 and 600 at 1; at most 150 at 30.
  const auto bound = run::cost_of(plan, prediction, lengths, std::nullopt, five_prices);
  CHECK(bound.prompts == 2200 * million);
  CHECK_FALSE(bound.estimated);
  CHECK(bound.answers == run::cost{0, 4500 * million});
  CHECK(bound.total() == run::cost{2200 * million, 6700 * million});
  CHECK(bound.unbounded == 0);
  // 80 and, since it is cut there, 50 tokens, at 20 or 30.
  const auto expected = run::cost_of(plan, prediction, lengths, 80, five_prices);
  CHECK(expected.answers == run::cost{2600 * million, 3900 * million});
  // Nothing is generated.
  const std::optional<std::uint32_t> none[] = {0};
  CHECK(run::cost_of(plan, prediction, none, 80, five_prices).answers == run::cost{0, 0});
  CHECK(run::cost_of(plan, prediction, none, std::nullopt, five_prices).answers == run::cost{0, 0});
  // In bytes: 100 and 150 tokens.
  plan.exact = false;
  const auto bytes = run::cost_of(plan, prediction, lengths, 80, five_prices);
  CHECK(bytes.estimated);
  CHECK(bytes.prompts == 550 * million);
}

TEST_CASE("an item whose answer has no bound makes a plan's cost a lower bound") {
  const prefix::plan plan{.exact = true, .total_units = 10};
  const std::optional<std::uint32_t> lengths[] = {100, std::nullopt};
  const auto open = run::cost_of(plan, {}, lengths, std::nullopt, two_prices);
  CHECK(open.unbounded == 1);
  CHECK(open.total() == run::cost{20 * million, std::nullopt});
  const auto expected = run::cost_of(plan, {}, lengths, 10, two_prices);
  CHECK(expected.unbounded == 0);
  CHECK(expected.total() == run::cost{180 * million, 180 * million});
}
