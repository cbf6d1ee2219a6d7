#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <evalcore/engine/options.hpp>
#include <evalcore/engine/request.hpp>

using namespace evalcore;

namespace {

engine::request greedy() {
  engine::request asked;
  asked.prompt = std::vector<engine::token>{1, 2, 3};
  return asked;
}

/// The refusal of a request that `change` has changed.
template <class Change>
std::string refusal_of(Change change) {
  auto asked = greedy();
  change(asked);
  const auto outcome = engine::check(asked);
  if (outcome) return {};
  CHECK(outcome.error().code == errc::invalid_request);
  CHECK(outcome.error().http_status == 400);
  return outcome.error().detail;
}

template <class Change>
bool refused_option(Change change) {
  engine::options how;
  change(how);
  const auto outcome = engine::check(how);
  if (!outcome) CHECK(outcome.error().code == errc::invalid_argument);
  return !outcome;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a greedy request is accepted") {
  CHECK(refusal_of([](auto&) {}).empty());
}

TEST_CASE("values out of their range are an invalid request") {
  const std::string invalid = "invalid_request";
  CHECK(refusal_of([](auto& r) { r.prompt = std::vector<engine::token>{}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.prompt = chat::request{}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.max_tokens = 0; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.temperature = -0.1; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.temperature = not_a_number; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.temperature = infinite; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.top_p = 0; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.top_p = 1.01; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.top_p = not_a_number; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.min_p = -0.5; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.repetition_penalty = 0; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.presence_penalty = not_a_number; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.frequency_penalty = infinite; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.how.logit_bias = {{-1, 1.0}}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.stop = {"a", ""}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.continuations = {{1}, {}}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.media = {{.index = 0, .bytes = ""}}; }) == invalid);
  CHECK(refusal_of([](auto& r) { r.share = engine::prefix_sharing{.key = "k", .scope = " \t"}; }) == invalid);
}

TEST_CASE("the ends of the ranges are accepted") {
  CHECK(refusal_of([](auto& r) {
          r.max_tokens = 1;
          r.how.temperature = 0;
          r.how.top_p = 1;
          r.how.top_k = 0;
          r.how.min_p = 1;
          r.share = engine::prefix_sharing{.key = "", .scope = "local"};
        }).empty());
}

TEST_CASE("options out of their range are refused by name") {
  CHECK(!refused_option([](auto&) {}));
  CHECK(refused_option([](auto& o) { o.max_batch_size = 0; }));
  CHECK(refused_option([](auto& o) { o.max_queue_size = 0; }));
  CHECK(!refused_option([](auto& o) { o.batch_wait_ms = 1'000; }));
  CHECK(refused_option([](auto& o) { o.batch_wait_ms = 1'001; }));
  CHECK(!refused_option([](auto& o) { o.batch_wait_ms = 0; }));
  CHECK(refused_option([](auto& o) { o.queue_timeout_s = 0; }));
  CHECK(refused_option([](auto& o) { o.queue_timeout_s = not_a_number; }));
  CHECK(refused_option([](auto& o) { o.queue_timeout_s = infinite; }));
  CHECK(refused_option([](auto& o) { o.output_queue_size = 0; }));
  CHECK(refused_option([](auto& o) { o.max_width = 0; }));
  engine::options late;
  late.batch_wait_ms = 5'000;
  CHECK(engine::check(late).error().message == "batch_wait_ms must be 0 to 1000, not 5000");
}

TEST_CASE("options have the documented defaults") {
  const engine::options how;
  CHECK(how.max_batch_size == 4);
  CHECK(how.max_queue_size == 32);
  CHECK(how.batch_wait_ms == 10);
  CHECK(how.queue_timeout_s == 120);
  CHECK(how.output_queue_size == 256);
}

TEST_CASE("sampling controls are set by name") {
  engine::sampling how;
  const auto named = json::parse(
      R"({"min_p": 0.05, "repetition_penalty": 1.1, "presence_penalty": null, "frequency_penalty": 2,
          "logit_bias": {"17": -100, "5": 0.5}})");
  REQUIRE(engine::set_controls(*named->if_object(), how));
  CHECK(how.min_p == 0.05);
  CHECK(how.repetition_penalty == 1.1);
  CHECK(how.presence_penalty == 0);
  CHECK(how.frequency_penalty == 2);
  CHECK(how.logit_bias == std::vector<std::pair<engine::token, double>>{{17, -100}, {5, 0.5}});
}

TEST_CASE("reserved, unknown and malformed sampling controls are refused by name") {
  const auto refusal = [](const char* text) {
    engine::sampling how;
    const auto outcome = engine::set_controls(*json::parse(text)->if_object(), how);
    REQUIRE(!outcome);
    CHECK(outcome.error().detail == "invalid_controls");
    CHECK(outcome.error().http_status == 400);
    return outcome.error().message;
  };
  CHECK(refusal(R"({"temperature": 0})") ==
        "sampling control 'temperature' is reserved: set the request's own field");
  CHECK(refusal(R"({"max_tokens": 5})").find("reserved") != std::string::npos);
  CHECK(refusal(R"({"mirostat": 2})") == "sampling control 'mirostat' is not supported");
  CHECK(refusal(R"({"min_p": "0.1"})") == "sampling control 'min_p' must be a number");
  CHECK(refusal(R"({"logit_bias": {"x": 1}})").find("token id") != std::string::npos);
  CHECK(refusal(R"({"logit_bias": {"-4": 1}})").find("token id") != std::string::npos);
  CHECK(refusal(R"({"logit_bias": [1]})").find("token id") != std::string::npos);
}

TEST_CASE("what bends a greedy choice is not batched, and what does not is") {
  const engine::traits plain;
  const auto batched = [&](auto change) {
    auto asked = greedy();
    change(asked);
    return engine::batchable(asked, plain, true);
  };
  CHECK(batched([](auto&) {}));
  CHECK(batched([](auto& r) {
    r.how.seed = 7;
    r.how.top_p = 0.5;
    r.how.top_k = 3;
    r.stop = {"x"};
    r.max_tokens = 99;
    r.media = {{.index = 0, .bytes = "png"}};
  }));
  CHECK(!batched([](auto& r) { r.how.temperature = 0.001; }));
  CHECK(!batched([](auto& r) { r.how.min_p = 0.1; }));
  CHECK(!batched([](auto& r) { r.how.repetition_penalty = 1.1; }));
  CHECK(!batched([](auto& r) { r.how.presence_penalty = 0.1; }));
  CHECK(!batched([](auto& r) { r.how.frequency_penalty = -0.1; }));
  CHECK(!batched([](auto& r) { r.how.logit_bias = {{1, 0.5}}; }));
}

TEST_CASE("requests that sample are batched where the engine samples each row and the option allows it") {
  auto asked = greedy();
  asked.how.temperature = 0.7;
  const engine::traits able{.per_row_sampling = true};
  CHECK(engine::batchable(asked, able, true));
  CHECK(!engine::batchable(asked, able, false));
  CHECK(!engine::batchable(asked, engine::traits{}, true));
}
