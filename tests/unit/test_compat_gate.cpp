#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <evalcore/run/compat_gate.hpp>
#include <evalcore/run/rows.hpp>

using namespace evalcore;

namespace {

run::gate_row row_of(const std::string& task, const std::string& metric, double score) {
  run::gate_row one;
  one.task = task;
  one.metric = metric;
  one.score = score;
  return one;
}

run::compat_result gate(const std::vector<run::gate_row>& candidate,
                        const std::vector<run::gate_row>& baseline, const run::gate_spec& spec = {}) {
  auto found = run::compat_gate(spec, run::group_passes(candidate), baseline);
  REQUIRE(found);
  return *std::move(found);
}

/// One metric against one of the baseline.
run::gated_metric gate_one(const std::string& metric, double candidate, double baseline,
                           double threshold = 2) {
  const auto found = gate({row_of("t", metric, candidate)}, {row_of("t", metric, baseline)},
                          {.default_threshold = threshold});
  REQUIRE(found.metrics.size() == 1);
  return found.metrics.front();
}

}  // namespace

TEST_CASE("gate: the direction of a metric is told by its name") {
  for (const char* lower : {"ppl", "Perplexity", "val_loss", "nll", "p95_latency_ms", "wall_seconds",
                            "peak_rss_mb", "ttft_ms", "error_rate", "wer", "answer_match"}) {
    CHECK_MESSAGE(run::lower_is_better(lower), lower);
  }
  for (const char* higher : {"accuracy", "pass_at_1", "tokens_per_second", "speedup", "f1"}) {
    CHECK_FALSE_MESSAGE(run::lower_is_better(higher), higher);
  }
}

TEST_CASE("gate: a candidate that is as the baseline passes") {
  const auto one = gate_one("accuracy", 0.8, 0.8);
  CHECK_FALSE(one.failed());
  CHECK(one.delta_pp == 0.0);
}

TEST_CASE("gate: 1.5 points less pass a threshold of two") {
  CHECK_FALSE(gate_one("accuracy", 0.785, 0.8).failed());
}

TEST_CASE("gate: more than the threshold fails") {
  const auto one = gate_one("accuracy", 0.77, 0.8);
  CHECK(one.failed());
  CHECK(*one.delta_pp == doctest::Approx(-3));
}

TEST_CASE("gate: exactly the threshold passes") { CHECK_FALSE(gate_one("accuracy", 0.5, 0.75, 25).failed()); }

TEST_CASE("gate: an improvement passes") { CHECK_FALSE(gate_one("accuracy", 0.9, 0.8).failed()); }

TEST_CASE("gate: scores whose mean or difference is not finite are refused by name") {
  const auto complaint = [](const std::vector<run::gate_row>& candidate, double baseline) {
    const auto found =
        run::compat_gate({}, run::group_passes(candidate), {row_of("t", "accuracy", baseline)});
    return found ? std::string() : found.error().message;
  };
  const std::string refused =
      "task t, metric accuracy has scores that are too large to be averaged or compared";
  // Sums, squares and differences beyond the 1.798e308 of a double.
  CHECK(complaint({row_of("t", "accuracy", 1e308), row_of("t", "accuracy", 1e308)}, 0) == refused);
  CHECK(complaint({row_of("t", "accuracy", 1e200), row_of("t", "accuracy", -1e200)}, 0) == refused);
  CHECK(complaint({row_of("t", "accuracy", 1e308)}, -1e308) == refused);
  CHECK(complaint({row_of("t", "accuracy", 1e100)}, 0).empty());
}

TEST_CASE("gate: a budget's whole numbers have 64 bits") {
  const auto budget = [](const std::string& steps) {
    const auto read = run::read_budget(R"({"infra_patches":[],"max_steps":)" + steps + "}", "b.json");
    return read ? json::to_text(*read->find("max_steps")) : read.error().message;
  };
  CHECK(budget("8") == "8");
  CHECK(budget("8.0") == "8");
  CHECK(budget("9223372036854775807") == "9223372036854775807");
  const std::string refused = "b.json has a max_steps that is no whole number of 64 bits";
  for (const char* wrong : {"1e300", "-1e300", "9223372036854775808.0", "8.5", "\"8\""})
    CHECK_MESSAGE(budget(wrong) == refused, wrong);
}

TEST_CASE("gate: a suite has a threshold of its own") {
  const run::gate_spec spec{.suites = {{.name = "t", .task = "t", .threshold = 5.0, .command = {}}}};
  const auto found = gate({row_of("t", "accuracy", 0.76)}, {row_of("t", "accuracy", 0.8)}, spec);
  CHECK(found.failed() == 0);
  CHECK(found.metrics.front().threshold_pp == 5);
}

TEST_CASE("gate: of what is better when lower, more fails and less passes") {
  CHECK(gate_one("perplexity", 5.5, 5.0).failed());
  CHECK_FALSE(gate_one("perplexity", 4.5, 5.0).failed());
  CHECK(*gate_one("perplexity", 4.5, 5.0).delta_pp == doctest::Approx(50));
}

TEST_CASE("gate: what the baseline does not have is missing, and fails nothing") {
  const auto found = gate({row_of("new", "accuracy", 0.1)}, {row_of("old", "accuracy", 0.8)});
  CHECK(found.failed() == 0);
  CHECK(found.missing() == 1);
  CHECK_FALSE(found.metrics.front().delta_pp);
}

TEST_CASE("gate: only the tasks of declared suites are gated") {
  const run::gate_spec spec{.suites = {{.name = "s", .task = "a", .threshold = {}, .command = {}}}};
  const auto found = gate({row_of("a", "accuracy", 0.8), row_of("b", "accuracy", 0.1)},
                          {row_of("a", "accuracy", 0.8), row_of("b", "accuracy", 0.8)}, spec);
  REQUIRE(found.metrics.size() == 1);
  CHECK(found.metrics.front().suite == "s");
  CHECK(found.failed() == 0);
}

TEST_CASE("gate: a declared suite without rows passes") {
  const run::gate_spec spec{.suites = {{.name = "s", .task = "absent", .threshold = {}, .command = {}}}};
  CHECK(gate({row_of("a", "accuracy", 0.1)}, {}, spec).metrics.empty());
}

TEST_CASE("gate: without suites every row is gated, in the order of task, subtask and metric") {
  auto with_subtask = row_of("a", "accuracy", 0.5);
  with_subtask.subtask = "x";
  const auto found =
      gate({row_of("b", "f1", 0.1), with_subtask, row_of("a", "f1", 0.5), row_of("a", "accuracy", 0.5)},
           {row_of("b", "f1", 0.9)});
  REQUIRE(found.metrics.size() == 4);
  CHECK(found.metrics[0].candidate.metric == "accuracy");
  CHECK_FALSE(found.metrics[0].candidate.subtask);
  CHECK(found.metrics[1].candidate.metric == "f1");
  CHECK(found.metrics[2].candidate.subtask == "x");
  CHECK(found.metrics[3].failed());
}

TEST_CASE("gate: of suites with one task the first gives the name, the last the threshold") {
  const run::gate_spec spec{.suites = {{.name = "one", .task = "t", .threshold = 1.0, .command = {}},
                                       {.name = "two", .task = "t", .threshold = 9.0, .command = {}}}};
  const auto found = gate({row_of("t", "accuracy", 0.75)}, {row_of("t", "accuracy", 0.8)}, spec);
  CHECK(found.metrics.front().suite == "one");
  CHECK(found.metrics.front().threshold_pp == 9);
}

TEST_CASE("gate: of two rows of the baseline with one key the last counts") {
  const auto found =
      gate({row_of("t", "accuracy", 0.8)}, {row_of("t", "accuracy", 0.1), row_of("t", "accuracy", 0.9)});
  CHECK(found.metrics.front().baseline_score == 0.9);
  CHECK(found.failed() == 1);
}

TEST_CASE("gate: passes are averaged") {
  const auto grouped = run::group_passes({row_of("t", "accuracy", 0.7), row_of("u", "accuracy", 1),
                                          row_of("t", "accuracy", 0.8), row_of("t", "accuracy", 0.9)});
  REQUIRE(grouped.size() == 2);
  CHECK(grouped[0].task == "t");
  CHECK(grouped[0].score == doctest::Approx(0.8));
}

TEST_CASE("gate: only rows of several passes have statistics") {
  const auto grouped = run::group_passes({row_of("t", "accuracy", 0.7), row_of("u", "accuracy", 1),
                                          row_of("t", "accuracy", 0.8), row_of("t", "accuracy", 0.9)});
  REQUIRE(grouped.size() == 2);
  REQUIRE(grouped[0].stats);
  CHECK(grouped[0].stats->stdev == doctest::Approx(0.1));
  CHECK(grouped[0].stats->ci95_high == doctest::Approx(0.8 + 1.96 * 0.1 / std::sqrt(3.0)));
  CHECK_FALSE(grouped[1].stats);
  CHECK(run::stats_of({}).mean == 0);
  CHECK(run::stats_of({0.5}).stdev == 0);
}

TEST_CASE("gate: the result has the statistics of passes, and each byte of it is as Foundation writes it") {
  run::gate_spec spec;
  auto result = gate({row_of("bfcl/v4", "accuracy", 0.25), row_of("bfcl/v4", "accuracy", 0.75),
                      row_of("new", "accuracy", 1)},
                     {row_of("bfcl/v4", "accuracy", 0.75)}, spec);
  result.passes = 2;
  // Standard deviation sqrt(0.125), standard error 0.25.
  CHECK(run::to_text(result) == R"({
  "failedCount" : 1,
  "missingCount" : 1,
  "passed" : false,
  "protocol" : {
    "passes" : 2
  },
  "suites" : [
    {
      "baselineScore" : 0.75,
      "candidateScore" : 0.5,
      "candidateStats" : {
        "ci95High" : 0.99,
        "ci95Low" : 0.010000000000000009,
        "mean" : 0.5,
        "n" : 2,
        "stderr" : 0.25,
        "stdev" : 0.3535533905932738,
        "trialScores" : [
          0.25,
          0.75
        ]
      },
      "deltaPP" : -25,
      "direction" : "higherIsBetter",
      "metric" : "accuracy",
      "name" : "bfcl\/v4",
      "task" : "bfcl\/v4",
      "thresholdPP" : 2,
      "verdict" : "fail"
    },
    {
      "candidateScore" : 1,
      "direction" : "higherIsBetter",
      "metric" : "accuracy",
      "name" : "new",
      "task" : "new",
      "thresholdPP" : 2,
      "verdict" : "missing"
    }
  ]
})");
}

TEST_CASE("gate: the budget and the passes stand in the result") {
  const auto budget = run::read_budget(
      R"({"max_steps": 8, "sampling_seed": 17, "temperature": 0.0, "other": 1, "infra_patches": []})", "b");
  REQUIRE(budget);
  run::compat_result result;
  result.passes = 3;
  result.budget = *budget;
  CHECK(run::to_text(result) == R"({
  "failedCount" : 0,
  "missingCount" : 0,
  "passed" : true,
  "protocol" : {
    "budget" : {
      "infra_patches" : [

      ],
      "max_steps" : 8,
      "sampling_seed" : 17,
      "temperature" : 0
    },
    "passes" : 3
  },
  "suites" : [

  ]
})");
  CHECK_FALSE(run::read_budget("[1]", "b"));
  CHECK_FALSE(run::read_budget(R"({"infra_patches": [], "max_steps": "many"})", "b"));
}

TEST_CASE("gate: lines that are no rows are skipped") {
  run::row good;
  good.task = "t";
  good.metric = "accuracy";
  good.score = 0.5;
  const auto line = run::to_line(good);
  const auto rows = run::read_gate_rows("\nnot JSON\n{\"task\": \"t\"}\n[1]\n" + line + "  \n" +
                                        R"({"task":"t","metric":"f1","score":1,"subtask":null})" + "\n" +
                                        R"({"task":"t","metric":"f1","score":1,"n_examples":"many"})");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].score == 0.5);
  CHECK(rows[1].score == 1);
  CHECK_FALSE(rows[1].subtask);
}

TEST_CASE("gate: a spec stands by itself or in a project's `eval`") {
  const auto whole = run::read_gate_spec(
      R"({"baseline": "b.jsonl", "suites": [{"name": "s", "command": ["run", "x"]}, {"name": "n", "task": "t",
          "threshold": 5}]})",
      "spec", false);
  REQUIRE(whole);
  CHECK(whole->default_threshold == 2);
  CHECK(whole->suites[0].task == "s");
  CHECK(whole->suites[0].command == std::vector<std::string>{"run", "x"});
  CHECK(whole->suites[1].threshold == 5.0);
  const auto block = run::read_gate_spec(
      R"({"name": "p", "eval": {"baseline": "b", "suites": [], "default_threshold": 1.5}})", "project", true);
  REQUIRE(block);
  CHECK(block->default_threshold == 1.5);
  CHECK_FALSE(run::read_gate_spec(R"({"name": "p"})", "project", true));
  CHECK_FALSE(run::read_gate_spec("{", "spec", false));
  CHECK_FALSE(run::read_gate_spec(R"({"suites": []})", "spec", false));
  CHECK_FALSE(run::read_gate_spec(R"({"baseline": "b"})", "spec", false));
  CHECK_FALSE(run::read_gate_spec(R"({"baseline": "b", "suites": [{"task": "nameless"}]})", "spec", false));
}
