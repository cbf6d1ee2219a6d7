#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <evalcore/run/export.hpp>

#include "run/export_formats.hpp"

using namespace evalcore;

namespace {

run::exported_item answered(const std::string& id, const std::string& target, const std::string& text) {
  run::exported_item out;
  out.one.id = id;
  out.one.target = target;
  out.line = json::object{{"id", id}, {"prompt", "What?"}, {"target", target}};
  out.request.messages.push_back({.who = chat::role::user, .text = "What?"});
  out.scorer = *score::find_scorer("exact");
  out.reply.emplace();
  out.reply->text = text;
  out.verdict = out.scorer->score({&out.one.target}, *out.reply);
  out.score = {run::item_state::scored, out.verdict.value, {}};
  return out;
}

run::exported_item missing(run::item_state state, const std::string& why) {
  auto out = answered("m", "yes", "");
  out.reply.reset();
  out.verdict = {};
  out.score = {state, 0, why};
  return out;
}

run::exported_run of_model(const std::string& model) {
  run::exported_run out;
  out.what.run_id = "RUN";
  out.what.task = "task";
  out.labels.model_name = model;
  return out;
}

std::string line(const run::exported_item& one) { return run::csv_line(of_model("m"), one); }

}  // namespace

TEST_CASE("a test case of JUnit passes, fails, is skipped or is in error") {
  using enum run::item_state;
  CHECK(run::junit_case(answered("a", "yes", "yes"), "t") == "    <testcase classname=\"t\" name=\"a\"/>\n");
  CHECK(
      run::junit_case(answered("a", "yes", "no"), "t") ==
      "    <testcase classname=\"t\" name=\"a\"><failure type=\"exact_match\" message=\"got &quot;no&quot;, "
      "expected &quot;yes&quot;\">no</failure></testcase>\n");
  CHECK(
      run::junit_case(missing(unscored, "no limit"), "t").find("<skipped message=\"unscored: no limit\"/>") !=
      std::string::npos);
  CHECK(run::junit_case(missing(errored, "timeout"), "t")
            .find("<error type=\"timeout\" message=\"no answer: timeout\"/>") != std::string::npos);
  CHECK(run::junit_case(missing(not_run, ""), "t").find("<error type=\"not_run\"") != std::string::npos);
}

TEST_CASE("a part of a point is a failure, and says what it scored") {
  auto partial = answered("a", "yes", "no");
  partial.score.value = 0.25;
  CHECK(run::junit_case(partial, "t").find("message=\"scored 0.2500: got ") != std::string::npos);
}

TEST_CASE("XML gets only characters that it can hold") {
  const auto told =
      run::junit_case(answered("\x01<&\"\t\n\r\x7F", "yes", "\xFF\xEF\xBF\xBE\xF0\x9F\x98\x80]]>"), "t");
  CHECK(told.find("name=\"\\x01&lt;&amp;&quot;&#9;&#10;&#13;\x7F\"") != std::string::npos);
  CHECK(told.find(">\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80]]&gt;</failure>") != std::string::npos);
}

TEST_CASE("a cell that a spreadsheet would take for a formula is shown as text") {
  for (const std::string bad : {"=1+1", "+1", "-1", "@SUM(A1)"}) {
    CAPTURE(bad);
    CHECK(line(answered(bad, "yes", "yes")).starts_with("RUN,task,m,'" + bad + ",,exact_match,scored,1.0,"));
  }
  CHECK(line(answered("\t=1", "yes", "yes")).find(",'\t=1,") != std::string::npos);
  // A carriage return alone needs quotes, too.
  CHECK(line(answered("\r=1", "yes", "yes")).find(",\"'\r=1\",") != std::string::npos);
  CHECK(line(answered("a=1", "yes", "yes")).find(",a=1,") != std::string::npos);
}

TEST_CASE("CSV quotes commas, quotes and line ends, and ends lines as RFC 4180 says") {
  const auto told = line(answered("a,\"b\"\nc", "yes", "yes"));
  CHECK(told.find(",\"a,\"\"b\"\"\nc\",") != std::string::npos);
  CHECK(told.ends_with("\r\n"));
  // What is missing has no value, which is not 0.
  CHECK(line(missing(run::item_state::errored, "timeout")).find(",errored,,timeout,") != std::string::npos);
}

TEST_CASE("what is redacted has ids, scores, usage and timing, and no text") {
  auto one = answered("id1", "secret-target", "secret-reply");
  one.one.category = "easy";
  one.one.request = one.request;
  one.request.messages[0].text = "secret-prompt";
  one.request.messages.push_back({.who = chat::role::assistant,
                                  .text = "secret-turn",
                                  .image_urls = {"secret-image"},
                                  .calls = {{"secret-call", "secret-name", "secret-arguments"}},
                                  .reasoning = "secret-thought",
                                  .thinking = {{.text = "secret-thought"}}});
  one.request.tools.push_back({"secret-tool", "secret-description", "secret-schema"});
  one.request.params.stop = {"secret-stop"};
  one.request.params.format = chat::response_format{.name = "secret-format", .schema = "secret-schema"};
  one.request.choices = {"secret-choice"};
  one.request.hints.prompt_cache_key = "secret-key";
  one.line = json::object{{"id", "id1"}, {"prompt", "secret-prompt"}};
  auto& reply = *one.reply;
  reply.reasoning = reply.refusal = reply.stop_string = reply.finish_raw = "secret-reply";
  reply.calls = {{"secret-id", "secret-function", "secret-arguments"}};
  reply.thinking = {{.text = "secret-thought"}};
  reply.logprobs.resize(1);
  reply.logprobs[0].token = "secret-token";
  reply.choices = {{.sum_logprob = -1.5}};
  reply.usage.prompt_tokens = 12;
  reply.timing.total = std::chrono::milliseconds(250);
  one.verdict.steps = {{"extract", "secret-step"}};
  const auto all = [](const run::exported_item& of) {
    return run::lm_eval_sample(of) + run::bfcl_result(of) + run::junit_case(of, "t") + line(of);
  };
  CHECK(all(one).find("secret") != std::string::npos);
  const auto hidden = run::redacted(one);
  const auto told = all(hidden);
  CHECK(told.find("secret") == std::string::npos);
  CHECK(told.find("[redacted]") != std::string::npos);
  for (const auto* kept : {"id1", "easy", ",12,", "0.250", "\"exact_match\":0.0", "-1.5"}) {
    CAPTURE(kept);
    CHECK(told.find(kept) != std::string::npos);
  }
  CHECK(run::bfcl_result(hidden).find("{\"[redacted]\":\"[redacted]\"}") != std::string::npos);
}

TEST_CASE("an empty reply stays empty when it is redacted") {
  CHECK(run::redacted(answered("a", "yes", "")).reply->text.empty());
}

TEST_CASE("a folder is named after the model as lm-eval does it") {
  CHECK(run::lm_eval_folder("org/model:1") == "org__model__1");
  CHECK(run::lm_eval_folder("a/:b") == "a__b");
  CHECK(run::lm_eval_time(1'796'079'583'087) == "2026-11-30T22-59-43.087000");
}

TEST_CASE("BFCL's files are by model, group and category") {
  run::item one;
  one.category = "live_multiple";
  CHECK(*run::bfcl_result_file("org/m", one) == "result/org_m/live/BFCL_v4_live_multiple_result.json");
  one.category = "simple_java";
  CHECK(*run::bfcl_result_file("m", one) == "result/m/non_live/BFCL_v4_simple_java_result.json");
  one.category = "../x";
  CHECK(run::bfcl_result_file("m", one).error().code == errc::invalid_argument);
}

TEST_CASE("a result of BFCL has native calls as a list, and reasoning apart from text") {
  auto one = answered("a", "yes", "<think>hm</think>[f(a=1)]");
  CHECK(run::bfcl_result(one) == R"({"id":"a","result":"[f(a=1)]","reasoning_content":"hm"})"
                                 "\n");
  one.reply->calls = {{"", "f", R"({"a": 1})"}, {"", "g", ""}};
  CHECK(run::bfcl_result(one) == R"({"id":"a","result":[{"f":"{\"a\": 1}"},{"g":"{}"}]})"
                                 "\n");
}

TEST_CASE("a table of Markdown shows names as they are") {
  auto run = of_model("a|b <i>*x*</i>\n`c`");
  run.what.items = 2;
  run.what.metrics.push_back(
      {.category = "", .metric = "acc", .items = 2, .scored = 1, .total = 1, .squares = 1});
  run.what.errors_by_class["timeout"] = 1;
  run.what.cut_by_length = 1;
  const auto told = run::markdown_summary({&run, 1}, nullptr);
  CHECK(told.find("| A | task | a\\|b &lt;i>\\*x\\*&lt;/i> \\`c\\` |  | acc | 2 | 0.5000 | ") !=
        std::string::npos);
  CHECK(told.find("\nA: 1 errored (timeout)\n") != std::string::npos);
  CHECK(told.find("\nA: answers cut by max_tokens: 1\n") != std::string::npos);
}
