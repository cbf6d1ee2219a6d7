#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <evalcore/run/ids.hpp>
#include <evalcore/run/prepare.hpp>

using namespace evalcore;

namespace {

run::item item_with_tool() {
  run::item one;
  one.id = "a";
  one.request.messages = {{chat::role::user, "hi", {}, {}, {}}};
  one.request.tools = {{"math.add", "Adds.", R"({"type":"dict","properties":{"x":{"type":"float"}}})"}};
  one.request.params.max_tokens = 8;
  return one;
}

run::suite suite_of(const std::string& lines) {
  const auto path = std::filesystem::temp_directory_path() / "evalcore_test_prepare.jsonl";
  std::ofstream(path) << lines;
  auto opened = run::suite::open(path.string());
  REQUIRE(opened);
  return *std::move(opened);
}

}  // namespace

TEST_CASE("defaults fill only what an item leaves open") {
  run::request_options how;
  how.defaults.max_tokens = 99;
  how.defaults.temperature = 0;
  how.defaults.stop = {"\n"};
  how.defaults.top_k = 40;
  how.model = "m";
  const auto request = run::prepare(item_with_tool(), how);
  REQUIRE(request);
  CHECK(request->params.max_tokens == 8U);
  CHECK(request->params.temperature == 0.0);
  CHECK(request->params.top_k == 40U);
  CHECK(request->params.stop == std::vector<std::string>{"\n"});
  CHECK(request->model == "m");
  CHECK_FALSE(request->hints.use_cache);
}

TEST_CASE("native tools take the API's form, tools as text leave the request without any") {
  const auto native = run::prepare(item_with_tool(), {.tools = run::tools_mode::native});
  REQUIRE(native);
  CHECK(native->tools.at(0).name == "math_add");
  CHECK(native->tools.at(0).parameters == R"({"type":"object","properties":{"x":{"type":"number"}}})");
  CHECK(native->messages.size() == 1);
  const auto text = run::prepare(item_with_tool(), {.tools = run::tools_mode::text});
  REQUIRE(text);
  CHECK(text->tools.empty());
  REQUIRE(text->messages.size() == 2);
  CHECK(text->messages[0].who == chat::role::system);
  CHECK(text->messages[0].text.find("math.add") != std::string::npos);
}

TEST_CASE("cache hints are no part of a request's identity, everything else is") {
  const auto plain = run::prepare(item_with_tool(), {});
  auto hinted = run::prepare(item_with_tool(), {.use_prompt_cache = false});
  REQUIRE(hinted);
  hinted->hints.slot = 3;
  CHECK(run::canonical_text(*plain) == run::canonical_text(*hinted));
  auto other = *plain;
  other.params.seed = 7;
  CHECK(run::canonical_text(*plain) != run::canonical_text(other));
  other = *plain;
  other.messages[0].text += " ";
  CHECK(run::canonical_text(*plain) != run::canonical_text(other));
  other = *plain;
  other.tools[0].description = "adds.";
  CHECK(run::canonical_text(*plain) != run::canonical_text(other));
}

TEST_CASE("choices are a part of a request's identity, and how text would be generated is none") {
  run::item one;
  one.request.messages.push_back({.who = chat::role::user, .text = "2 + 2 ="});
  one.request.choices = {" 4", " 5"};
  const auto plain = run::prepare(one, {});
  REQUIRE(plain);
  run::request_options how;
  how.defaults.temperature = 0.7;
  how.defaults.max_tokens = 9;
  how.tools = run::tools_mode::text;
  CHECK(run::canonical_text(*run::prepare(one, how)) == run::canonical_text(*plain));
  for (const auto& others : {std::vector<std::string>{" 5", " 4"}, {" 4", " 5", " 6"}, {" 4 5"}, {}}) {
    auto other = *plain;
    other.choices = others;
    CHECK(run::canonical_text(other) != run::canonical_text(*plain));
  }
}

TEST_CASE("functions in Java are called with the source text of their values") {
  run::item one;
  one.category = "simple_java";
  one.scorer = "bfcl";
  one.request.messages.push_back({.who = chat::role::user, .text = "?"});
  one.request.tools.push_back(
      {"A.f", "d",
       R"({"type":"dict","properties":{"ids":{"type":"ArrayList","description":"All.","items":{"type":"long"}}}})"});
  const auto native = run::prepare(one, {});
  REQUIRE(native);
  CHECK(native->tools[0].name == "A_f");
  CHECK(
      native->tools[0].parameters ==
      R"({"type":"object","properties":{"ids":{"type":"string","description":"All. A string with the source )"
      R"(text of a value of type Java ArrayList whose elements are of type long."}}})");
  const auto text = run::prepare(one, {.tools = run::tools_mode::text});
  REQUIRE(text);
  CHECK(text->messages[0].text.find("Java ArrayList") != std::string::npos);
  one.category = "simple_python";
  CHECK(run::prepare(one, {})->tools[0].parameters.find("Java") == std::string::npos);
}

TEST_CASE("what shows only in use is found before a backend is started, with its line") {
  const std::string good = R"({"id":"1","prompt":"x","target":"y"})"
                           "\n";
  const auto unknown = suite_of(good + R"({"id":"2","prompt":"x","target":"y","scorer":"vibes"})"
                                       "\n");
  CHECK(run::check_items(unknown, 1));
  const auto failed = run::check_items(unknown, 2);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::bad_suite);
  CHECK(failed.error().message.find("evalcore_test_prepare.jsonl:2: ") != std::string::npos);
  CHECK(failed.error().message.find("\"vibes\"") != std::string::npos);
  const auto wrong_target = suite_of(R"({"id":"1","prompt":"x","target":"many","scorer":"numeric"})"
                                     "\n");
  CHECK_FALSE(run::check_items(wrong_target, 1));
}

TEST_CASE("run ids are version 4 UUIDs in upper case") {
  const auto id = run::new_run_id();
  REQUIRE(id.size() == 36);
  CHECK(id.find_first_not_of("0123456789ABCDEF-") == std::string::npos);
  CHECK(id[14] == '4');
  CHECK(std::string("89AB").find(id[19]) != std::string::npos);
  CHECK(run::new_run_id() != id);
}

TEST_CASE("times are ISO-8601 in UTC") {
  CHECK(run::timestamp(0) == "1970-01-01T00:00:00Z");
  CHECK(run::timestamp(1'795'969'709'999) == "2026-11-29T16:28:29Z");
}
