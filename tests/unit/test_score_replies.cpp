#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/run/score_replies.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

constexpr const char* suite_text = R"({"id":"n","prompt":"2+2?","target":4,"scorer":"numeric"}
{"id":"w","prompt":"?","target":"yes","category":"words"}
{"id":"c","prompt":"?","choices":["a","b"],"target":1}
)";

run::scored_replies scored(const std::string& suite_lines, const std::string& replies,
                           const run::score_options& how = {}) {
  const test::temporary_folder folder;
  const auto suite = run::suite::open(folder.write("s.jsonl", suite_lines));
  REQUIRE(suite);
  auto done = run::score_replies(*suite, folder.write("r.jsonl", replies), how);
  REQUIRE_MESSAGE(done, (done ? "" : done.error().message));
  return *std::move(done);
}

std::string complaint(const std::string& replies, const run::score_options& how = {}) {
  const test::temporary_folder folder;
  const auto suite = run::suite::open(folder.write("s.jsonl", suite_text));
  const auto path = folder.write("r.jsonl", replies);
  const auto done = run::score_replies(*suite, path, how);
  REQUIRE_FALSE(done);
  auto message = done.error().message;
  if (message.starts_with(path)) message.erase(0, path.size());
  return message;
}

}  // namespace

TEST_CASE("replies that are there are scored by the items' scorers") {
  const auto done = scored(suite_text, R"({"id":"c","choices":[-2.5,{"sum_logprob":-1}]}
{"id":"w","text":"no","finish":"length"}
{"id":"n","text":"<think>5?</think>It is 4."}
{"id":"other","text":"x"}
)");
  CHECK(done.unknown == 1);
  CHECK(done.what.items == 3);
  CHECK(done.what.answered == 3);
  CHECK(done.what.not_run == 0);
  CHECK(done.what.cut_by_length == 1);
  CHECK(*done.what.score() == doctest::Approx(2.0 / 3));
}

TEST_CASE("items without a reply are missing, and never right") {
  const auto done = scored(suite_text, R"({"id":"n","text":"4"})");
  CHECK(done.what.not_run == 2);
  CHECK(*done.what.score() == doctest::Approx(1.0 / 3));
  CHECK(*done.what.score_upper_bound() == 1);
}

TEST_CASE("another scorer takes the place of the items' own, and says each step") {
  std::vector<std::string> lines;
  const auto done =
      scored(R"({"id":"n","prompt":"?","target":"4"})", R"({"id":"n","text":"<think>x</think> It is 4"})",
             {.scorer = R"({"name":"regex","pattern":"[0-9]"})",
              .scored = [&](const run::item& one, const score::verdict& verdict) {
                lines.push_back(run::to_json(one, verdict));
              }});
  CHECK(*done.what.score() == 1);
  REQUIRE(lines.size() == 1);
  CHECK(
      lines[0] ==
      R"({"id":"n","category":null,"scored":true,"value":1.0,"extracted":"4","reason":"","no_answer":false,)"
      R"("further":{},"steps":[{"name":"reasoning","text":"It is 4"},{"name":"extract","text":"4"},)"
      R"({"name":"normalise","text":"4"},{"name":"compare","text":"right"}]})");
}

TEST_CASE("BFCL's result files are read as they are") {
  const test::temporary_folder folder;
  const auto suite = run::suite::open(std::string(EVALCORE_TEST_DATA) + "/suites/BFCL_v4_simple_python.json");
  REQUIRE(suite);
  const auto done = run::score_replies(
      *suite,
      folder.write("r.json", R"({"id":"simple_python_1","result":[{"math_factorial":"{\"number\":5}"}]}
{"id":"simple_python_0","result":"[f(a=1)]"}
)"),
      {});
  REQUIRE(done);
  CHECK(done->what.metrics.at(0).total == 1);
  CHECK(done->what.not_run == 1);
}

TEST_CASE("a failed inference in a BFCL result file is no reply, and its item is missing") {
  constexpr const char* irrelevant =
      R"({"id":"irrelevance_0","prompt":"?","target":[],"category":"irrelevance","scorer":"bfcl","tools":[]})";
  for (
      const char* failed :
      {R"({"id":"irrelevance_0","result":"Error during inference: Connection error.","traceback":"Traceback (most recent call last):\n"})",
       R"({"id":"irrelevance_0","result":"Error during inference: Error code: 429"})",
       R"({"id":"irrelevance_0","result":[],"traceback":"Traceback (most recent call last):\n"})"}) {
    const auto done = scored(irrelevant, failed);
    CHECK_MESSAGE(done.what.answered == 0, failed);
    CHECK(done.what.not_run == 1);
    CHECK(done.unknown == 0);
    CHECK(*done.what.score() == 0);
    CHECK(*done.what.score_upper_bound() == 1);
  }
  const auto done = scored(irrelevant, R"({"id":"irrelevance_0","result":"An error during inference: no."})");
  CHECK(done.what.answered == 1);
  CHECK(*done.what.score() == 1);
}

TEST_CASE("what is wrong with a file of replies is said with its line") {
  CHECK(complaint("{\"id\":\"n\",\"text\":\"4\"}\n{\"id\":\"n\",\"text\":\"5\"}\n") ==
        ":2: this id stands in line 1 already; one reply belongs to an item");
  CHECK(complaint(R"({"text":"4"})") == ":1: lacks \"id\"");
  CHECK(complaint(R"({"id":"n"})") == R"(:1: lacks "text", "calls" or "choices")");
  CHECK(complaint(R"({"id":"n","text":4})") == R"(:1: the reply: "text" is not a string)");
  CHECK(complaint(R"({"id":"n","text":"4","finish":"done"})")
            .starts_with(R"(:1: "finish" is "done"; known are)"));
  CHECK(complaint(R"({"id":"n","answer":"4"})")
            .starts_with(R"(:1: the reply has "answer", which is not supported)"));
  CHECK(complaint("[]").starts_with(":1: not a JSON object"));
  CHECK(complaint("{").starts_with(":1: not JSON ("));
  CHECK(complaint(R"({"id":"n","text":"4"})", {.scorer = "vibes"}).starts_with("no scorer \"vibes\""));
}

TEST_CASE("what ails the answers is one line, and none where nothing does") {
  run::summary of;
  CHECK(run::health_line(of).empty());
  of.empty_answers = 1;
  CHECK(run::health_line(of) == "answers empty: 1");
  of.cut_by_length = 3;
  of.no_answers = 2;
  of.unclosed_reasoning = 4;
  of.refused = 5;
  of.double_bos = 6;
  CHECK(
      run::health_line(of) ==
      "answers cut by max_tokens: 3, empty: 1, with nothing to compare: 2, that ended in their reasoning: 4, "
      "refused: 5; items whose prompt has a BOS token too many: 6");
  run::summary unanswered;
  unanswered.double_bos = 1;
  CHECK(run::health_line(unanswered) == "items whose prompt has a BOS token too many: 1");
}
