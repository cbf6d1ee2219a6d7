#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/summary.hpp>

#include "run/tally.hpp"

using namespace evalcore;

namespace {

/// Ten items: seven scored, 5.5 points; two errored, one unscored.
run::summary ten_items() {
  run::summary of;
  of.run_id = "0F0E";
  of.task = "task";
  of.items = 10;
  of.answered = 8;
  of.errors = 2;
  of.unscored = 1;
  of.metrics = {{"easy", "accuracy", 6, 5, 4.5}, {"hard", "accuracy", 4, 2, 1.0}};
  return of;
}

json::value as_json(const run::summary& of) {
  auto root = json::parse(run::to_json(of));
  REQUIRE(root);
  return *std::move(root);
}

}  // namespace

TEST_CASE("a missing item never flatters a score") {
  const auto of = ten_items();
  CHECK(*of.score() == doctest::Approx(0.55));              // 5.5 of 10
  CHECK(*of.score_upper_bound() == doctest::Approx(0.85));  // the three missing ones right: 8.5 of 10
  CHECK(of.metrics[0].score() == doctest::Approx(0.75));
  CHECK(of.metrics[1].upper_bound() == doctest::Approx(0.75));
  CHECK_FALSE(run::summary().score());
}

TEST_CASE("a further metric is told with its bounds and is no part of the score") {
  auto of = ten_items();
  of.metrics.push_back({"easy", "acc_norm", 6, 5, 0.5, true});
  CHECK(*of.score() == doctest::Approx(0.55));
  CHECK(*of.score_upper_bound() == doctest::Approx(0.85));
  const auto metrics = *as_json(of).find("metrics")->if_array();
  REQUIRE(metrics.size() == 3);
  CHECK(json::to_text(*metrics[2].find("metric")) == "\"acc_norm\"");
  CHECK(run::rows_of(of, {}).size() == 3);
}

TEST_CASE("items of exact and of f1 are each counted once in a suite that has both") {
  run::summary of;
  run::tally counted(of);
  score::verdict right{.scored = true, .value = 1};
  const auto exact = *score::find_scorer("exact");
  const auto f1 = *score::find_scorer("f1");
  for (const auto& scorer : {exact, f1, exact}) counted.item({}, *scorer);
  counted.verdict("", *exact, right);
  counted.verdict("", *exact, right);
  right.further = {{f1->further_metrics().front().name, 1.0}};
  counted.verdict("", *f1, right);
  CHECK(*of.score() == 1);
  REQUIRE(of.metrics.size() == 3);
  CHECK(of.metrics[0].metric == "exact_match");
  CHECK(of.metrics[0].items == 2);
  CHECK_FALSE(of.metrics[0].further);
  CHECK(of.metrics[2].items == 1);
  CHECK(of.metrics[2].further);
}

TEST_CASE("a figure of which less is better takes missing items for the worst") {
  const auto scorer = *score::find_scorer("perplexity");
  const auto brier = *score::find_scorer("brier");
  run::summary of;
  run::tally counted(of);
  for (int i = 0; i < 2; ++i) counted.item({}, *scorer);
  for (int i = 0; i < 2; ++i) counted.item({}, *brier);
  const auto told = [](double sum) {
    return std::vector<score::further_value>{{"perplexity", sum},
                                             {"word_perplexity", sum, 2},
                                             {"byte_perplexity", sum, 4},
                                             {"bits_per_byte", sum, 4}};
  };
  counted.verdict("", *scorer, {.further = told(-2)});
  counted.verdict("", *brier,
                  {.scored = true, .value = 1, .further = {{"acc_norm", 1.0}, {"brier_score", 0.5}}});
  const auto metric = [&](std::string_view name) {
    return *std::ranges::find(of.metrics, name, &run::metric_summary::metric);
  };
  CHECK(std::isinf(metric("perplexity").score()));
  CHECK(metric("perplexity").upper_bound() == 1);
  CHECK(metric("bits_per_byte").upper_bound() == 0);
  CHECK(metric("brier_score").score() == (0.5 + 2) / 2);
  CHECK(metric("brier_score").upper_bound() == 0.25);
  CHECK(of.unscored == 1);
  CHECK(of.score() == 1.0 / 4);
  CHECK(run::rows_of(of, {}).size() == 3);  // acc, acc_norm, brier_score.
  CHECK(run::to_json(of).find("inf") == std::string::npos);

  counted.verdict("", *scorer, {.further = told(-4)});
  CHECK(metric("perplexity").score() == doctest::Approx(std::exp(3.0)));
  CHECK(metric("word_perplexity").score() == doctest::Approx(std::exp(1.5)));
  CHECK(metric("byte_perplexity").score() == doctest::Approx(std::exp(0.75)));
  CHECK(metric("bits_per_byte").score() == doctest::Approx(0.75 / std::log(2.0)));
  CHECK_FALSE(metric("perplexity").interval());
}

TEST_CASE("the standard error of a Brier score is that of its values") {
  // 0.5 and 1.5: mean 1, s = 0.70711, s / sqrt(2) = 0.5.
  run::metric_summary of{"", "brier_score", 2, 2, 2.0};
  of.squares = 2.5;
  of.comes_to = score::figure::loss;
  REQUIRE(of.estimate());
  CHECK(of.estimate()->value == doctest::Approx(1));
  CHECK(*of.estimate()->standard_error == doctest::Approx(0.5));
  CHECK(of.interval()->kind == "t");
  CHECK(of.interval()->bounds.high == 2);
}

TEST_CASE("right-or-wrong scores have Wilson's interval, parts of points Student's") {
  const run::metric_summary rate{"", "accuracy", 20, 20, 0};  // Nothing of 20: up to 0.1611 (Newcombe 1998).
  REQUIRE(rate.interval());
  CHECK(rate.interval()->kind == "wilson");
  CHECK(rate.interval()->bounds.low == 0);
  CHECK(rate.interval()->bounds.high == doctest::Approx(0.1611).epsilon(1e-3));
  // 0.5, 0.5, 0.6, 0.4: mean 0.5, squares 1.02, standard error sqrt(0.02 / 3 / 4); t of three degrees 3.1824.
  const run::metric_summary parts{"", "f1", 4, 4, 2, false, 1.02};
  REQUIRE(parts.interval());
  CHECK(parts.interval()->kind == "t");
  CHECK(*parts.estimate()->standard_error == doctest::Approx(std::sqrt(0.02 / 12)));
  CHECK(parts.interval()->bounds.high == doctest::Approx(0.5 + 3.1824 * std::sqrt(0.02 / 12)).epsilon(1e-4));
  // 0.5, 0.5, 1, 0 have one of more than the scale.
  CHECK(run::metric_summary{"", "f1", 4, 4, 2, false, 1.5}.interval()->bounds == stats::interval{0, 1});
  CHECK_FALSE(run::metric_summary{"", "f1", 1, 1, 0.5, false, 0.25}.interval());
  CHECK_FALSE(run::metric_summary{}.interval());
}

TEST_CASE("reported: a category that is named as the whole is one of the categories") {
  run::summary of;
  of.metrics = {{"easy", "accuracy", 4, 4, 3, false, 3},
                {"all", "accuracy", 2, 2, 1, false, 1},
                {"easy", "f1", 4, 4, 3, false, 3}};
  CHECK(*of.score() == doctest::Approx(0.7));
  const auto macros = of.macro_averages();
  REQUIRE(macros.size() == 1);  // f1 has one category alone.
  CHECK(macros[0].metric == "accuracy");
  CHECK(macros[0].categories == 2);
  CHECK(macros[0].mean.value == doctest::Approx(0.625));
  // Variances of the means: 0.75 / 3 / 4 and 0.5 / 1 / 2.
  CHECK(*macros[0].mean.standard_error == doctest::Approx(std::sqrt(0.0625 + 0.25) / 2));
  const auto root = as_json(of);
  CHECK(root.find("macro")->if_array()->size() == 1);
  CHECK(*root.find("score")->if_double() == doctest::Approx(0.7));
}

TEST_CASE("the interval of a macro average stays between 0 and 1") {
  run::summary of;
  // Two categories of two items, 1 and 1, 1 and 0: mean 0.75, standard error 0.25 with one degree of freedom,
  // t 12.7062: from -2.4266 to 3.9266.
  of.metrics = {{"easy", "accuracy", 2, 2, 2, false, 2}, {"hard", "accuracy", 2, 2, 1, false, 1}};
  const auto macros = of.macro_averages();
  REQUIRE(macros.size() == 1);
  CHECK(macros[0].interval() == stats::interval{0, 1});
  const auto root = as_json(of);
  const auto& told = root.find("macro")->if_array()->front();
  CHECK(json::to_text(*told.find("interval")) == "[0.0,1.0]");
  CHECK_FALSE(run::macro_average{}.interval());
}

TEST_CASE("what is known of the backend is named") {
  auto of = ten_items();
  of.probe.findings = {{"stop", backend::ability::yes, "why"}, {"seed", backend::ability::unknown, "why"}};
  CHECK(json::to_text(*as_json(of).find("probe")) ==
        R"({"depth":"facts","findings":{"stop":"yes","seed":"unknown"}})");
}

TEST_CASE("one row for each metric of each category, missing items wrong") {
  auto of = ten_items();
  of.metrics.push_back({"", "exact_match", 2, 2, 1.0});
  of.wall_s = 1.5;
  const auto rows = run::rows_of(
      of, {.baseline = true, .model_name = "m", .model_path = "/m", .model_step = 7, .timestamp = "T"});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].subtask == "easy");
  CHECK(rows[0].score == doctest::Approx(0.75));
  CHECK(rows[0].n_examples == 6);
  CHECK(rows[0].model_step == 7);
  CHECK(rows[0].baseline);
  CHECK(rows[1].metric == "accuracy");
  CHECK_FALSE(rows[2].subtask);
  CHECK(rows[2].wall_seconds == 1.5);
}

TEST_CASE("what the backend did not say is null, never 0") {
  const auto root = as_json(ten_items());
  for (const char* key : {"cached_tokens", "prompt_tokens", "fed_tokens", "mean_ttft_s", "items_per_s"}) {
    REQUIRE_MESSAGE(root.find(key) != nullptr, key);
    CHECK_MESSAGE(root.find(key)->is_null(), key);
  }
  CHECK(root.find("prefix")->find("predicted_cached_tokens")->is_null());
}

TEST_CASE("tokens fed are those of the prompt that were not cached") {
  auto of = ten_items();
  of.prompt_tokens = 1000;
  of.cached_tokens = 800;
  CHECK(*as_json(of).find("fed_tokens")->if_int() == 200);
}

TEST_CASE("the prefix line says what is known") {
  run::summary of;
  CHECK(run::prefix_line(of) == "prefix cached: unknown");
  of.predicted_cached_tokens = 900;
  CHECK(run::prefix_line(of) == "prefix cached: unknown of 900 predicted");
  of.prompt_tokens = 1000;
  of.cached_tokens = 876;
  CHECK(run::prefix_line(of) == "prefix cached: 876 tokens of 900 predicted (hit rate 87.6 %)");
  of.predicted_cached_tokens.reset();
  CHECK(run::prefix_line(of) == "prefix cached: 876 tokens (hit rate 87.6 %)");
}

TEST_CASE("a cost is told in USD with its bounds, and is null without prices") {
  auto of = ten_items();
  CHECK(json::to_text(*as_json(of).find("cost")) ==
        R"({"usd":null,"usd_at_most":null,"spent_usd":null,"spent_usd_at_most":null,"max_usd":null,)"
        R"("usd_per_million_tokens":{}})");
  of.cost = run::cost_summary{{3'000'000, 300'000, 3'750'000, 15'000'000, 15'000'000},
                              {1'250'000'000'000, std::nullopt},
                              {1'500'000'000'000, std::nullopt},
                              5'000'000'000'000};
  CHECK(
      json::to_text(*as_json(of).find("cost")) ==
      R"({"usd":1.25,"usd_at_most":null,"spent_usd":1.5,"spent_usd_at_most":null,"max_usd":5.0,)"
      R"("usd_per_million_tokens":{"input":3.0,"cached":0.3,"cache_write":3.75,"output":15.0,"reasoning":15.0}})");
  CHECK(run::cost_line(of) ==
        "cost: at least 1.2500 USD (at least 1.5000 USD with earlier runs of this suite and backend in the "
        "store)");
  of.cost->spent = of.cost->sent;
  CHECK(run::cost_line(of) == "cost: at least 1.2500 USD");
}

TEST_CASE("reported: answers that were not streamed have no part in the time to the first token") {
  run::summary of;
  run::tally counts(of);
  for (int i = 0; i < 5; ++i) {
    chat::reply streamed;
    streamed.timing = {.first_token = std::chrono::milliseconds(100), .total = std::chrono::seconds(2)};
    counts.tokens(streamed, std::nullopt);
    chat::reply whole;
    whole.timing.total = std::chrono::seconds(2);
    counts.tokens(whole, std::nullopt);
  }
  REQUIRE(of.mean_ttft_s);
  CHECK(*of.mean_ttft_s == doctest::Approx(0.1));
}
