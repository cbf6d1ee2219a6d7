#include <doctest/doctest.h>

#include <string>

#include <evalcore/run/suite.hpp>

#include "unit/temporary_folder.hpp"

using namespace evalcore;

namespace {

const std::string data = EVALCORE_TEST_DATA "/suites/";

constexpr const char* question =
    R"({"id":"live_simple_0-0-0","question":[[{"role":"user","content":"?"}]],"function":[{"name":"f"}]})"
    "\n";
constexpr const char* answer = R"({"id":"live_simple_0-0-0","ground_truth":[{"f":{}}]})"
                               "\n";

std::string refusal(const std::string& path, const std::string& answers = {}) {
  const auto suite = run::suite::open(path, answers);
  REQUIRE_FALSE(suite);
  return suite.error().message;
}

}  // namespace

TEST_CASE("a BFCL v4 file is read with the answers beside it") {
  const auto suite = run::suite::open(data + "BFCL_v4_simple_python.json");
  REQUIRE(suite);
  CHECK(suite->size() == 3);
  CHECK(suite->task() == "bfcl");
  // cat BFCL_v4_simple_python.json possible_answer/BFCL_v4_simple_python.json | sha256sum
  CHECK(suite->hash() == "99117e06352f5fb2e995af2cc4f7a58fca143ddfaa3a5f5512281dc39a310324");
  const auto one = suite->get(1);
  REQUIRE(one);
  CHECK(one->id == "simple_python_1");
  CHECK(one->line == 2);
  CHECK(one->category == "simple_python");
  CHECK(one->scorer == "bfcl");
  CHECK(one->request.params.temperature == 0.0);
  REQUIRE(one->request.messages.size() == 1);
  CHECK(one->request.messages[0].text == "Calculate the factorial of 5 using math functions.");
  REQUIRE(one->request.tools.size() == 1);
  CHECK(one->request.tools[0].name == "math.factorial");
  CHECK(one->request.tools[0].description == "Calculate the factorial of a given number.");
  CHECK(one->request.tools[0].parameters ==
        R"({"type":"dict","properties":{"number":{"type":"integer",)"
        R"("description":"The number for which factorial needs to be calculated."}},"required":["number"]})");
  CHECK(json::to_text(one->target) == R"([{"math.factorial":{"number":[5]}}])");
}

TEST_CASE("a gzipped BFCL file keeps its category and its hash") {
  const auto suite = run::suite::open(data + "BFCL_v4_live_multiple.json.gz");
  REQUIRE(suite);
  // The two files inflated, one after the other, through sha256sum.
  CHECK(suite->hash() == "8fcc7c8768202e2445b1ef84748916bf243306dc4629fe33ab4a03e9a075c25e");
  const auto one = suite->get(0);
  REQUIRE(one);
  CHECK(one->category == "live_multiple");
  REQUIRE(one->request.messages.size() == 2);
  CHECK(one->request.messages[0].who == chat::role::system);
  CHECK(json::to_text(one->target) == R"([{"add":{"a":[100],"b":[-40]}}])");
}

TEST_CASE("under another name the lines tell the kind and the ids the category") {
  const test::temporary_folder folder;
  const auto path = folder.write("mine.jsonl", question);
  for (const auto& answers :
       {folder.write("gold.jsonl", answer), folder.write("answers/mine.jsonl", answer)}) {
    const auto suite = run::suite::open(path, answers);
    REQUIRE(suite);
    CHECK(suite->get(0)->category == "live_simple");
    CHECK(json::to_text(suite->get(0)->target) == R"([{"f":{}}])");
  }
  CHECK(run::suite::open(path, folder / "answers"));
}

TEST_CASE("params of a BFCL line are honoured") {
  const test::temporary_folder folder;
  std::string line = question;
  line.insert(1, R"("params":{"max_tokens":32,"stop":"\n"},)");
  const auto path = folder.write("BFCL_v4_live_simple.json", line);
  folder.write("possible_answer/BFCL_v4_live_simple.json", answer);
  const auto suite = run::suite::open(path);
  REQUIRE(suite);
  const auto params = suite->get(0)->request.params;
  CHECK(params.max_tokens == 32U);
  CHECK(params.temperature == 0.0);
  CHECK(params.stop == std::vector<std::string>{"\n"});
}

TEST_CASE("relevance categories have no answers") {
  const test::temporary_folder folder;
  const auto suite = run::suite::open(folder.write("BFCL_v4_live_irrelevance.json", question));
  REQUIRE(suite);
  CHECK(suite->get(0)->target.is_null());
}

TEST_CASE("missing and broken answers are named") {
  const test::temporary_folder folder;
  const auto path = folder.write("BFCL_v4_live_simple.json", question);
  const auto beside = folder / "possible_answer/BFCL_v4_live_simple.json";
  CHECK(refusal(path) ==
        "cannot read " + beside + ": No such file or directory; it holds the answers to " + path);
  folder.write("possible_answer/BFCL_v4_live_simple.json", "{\"id\":\"other\",\"ground_truth\":[]}\n");
  CHECK(refusal(path) == path + ":1: no line of " + beside + " answers this id");
  folder.write("possible_answer/BFCL_v4_live_simple.json", "{\"id\":\"live_simple_0-0-0\"}\n");
  CHECK(refusal(path) == beside + ":1: lacks \"ground_truth\", a list of calls");
  folder.write("possible_answer/BFCL_v4_live_simple.json",
               "{\"id\":\"live_simple_0-0-0\",\"ground_truth\":[],\"ground_truth\":[]}\n");
  CHECK(refusal(path) == beside + ":1: one object has \"ground_truth\" twice; leave one of them out");
  folder.write("possible_answer/BFCL_v4_live_simple.json", std::string(answer) + answer);
  CHECK(refusal(path) == beside + ":2: this id stands in line 1 already");
}

TEST_CASE("multi-turn and agentic categories are refused for now") {
  const test::temporary_folder folder;
  const auto turns = folder.write("BFCL_v4_multi_turn_base.json",
                                  R"({"id":"m_0","question":[[{"role":"user","content":"a"}],[]]})"
                                  "\n");
  CHECK(refusal(turns) ==
        turns + ":1: \"question\" has 2 turns; multi-turn categories are not supported yet");
  const auto agentic =
      folder.write("BFCL_v4_memory.json", R"({"id":"m_0","question":[[{"role":"user","content":"a"}]]})"
                                          "\n");
  CHECK(refusal(agentic) ==
        agentic + ":1: lacks \"function\"; categories that bring their own tools are not supported yet");
}
