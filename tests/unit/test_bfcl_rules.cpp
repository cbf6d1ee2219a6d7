#include <doctest/doctest.h>

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

/// A function f with a parameter `a`, and what is accepted for it.
struct item {
  std::string type;      ///< The members of its schema.
  std::string accepted;  ///< A JSON list.
  std::string category = "simple_python";
};

bool right(std::string_view scorer, const item& what, const std::string& text) {
  const std::vector<chat::tool> tools{
      {"f", "", R"({"type":"dict","properties":{"a":{)" + what.type + R"(}},"required":[]})"}};
  const auto target = *json::parse(R"([{"f":{"a":)" + what.accepted + "}}]");
  chat::reply answer;
  answer.text = text;
  const auto found = score::find_scorer(scorer);
  REQUIRE(found);
  const score::task task{&target, &tools, what.category};
  REQUIRE((*found)->check(task));
  const auto out = (*found)->score(task, answer);
  CHECK(out.scored);
  return out.value == 1;
}

struct row {
  const char* what;
  item asked;
  const char* reply;
  bool compat;
  bool strict;
};

const std::vector<row>& truth_table() {
  static const std::vector<row> all{
      {"int for float", {R"("type":"float")", "[5.0]"}, "f(a=5)", true, true},
      {"float for int", {R"("type":"integer")", "[5]"}, "f(a=5.0)", false, false},
      {"bool for int", {R"("type":"integer")", "[1]"}, "f(a=True)", false, false},
      {"int for bool", {R"("type":"boolean")", "[true]"}, "f(a=1)", false, false},
      {"true for 1 inside a dict", {R"("type":"dict")", R"([{"k":[1]}])"}, "f(a={'k': True})", true, false},
      {"a string without its sign", {R"("type":"string")", R"(["-5"])"}, "f(a='5')", true, false},
      {"a string without its point", {R"("type":"string")", R"(["1.5"])"}, "f(a='15')", true, false},
      {"a string without other punctuation",
       {R"("type":"string")", R"(["April 1, 2024"])"},
       "f(a='april-1 2024')",
       true,
       true},
      {"another order of a list",
       {R"("type":"array","items":{"type":"integer"})", "[[1,2]]"},
       "f(a=[2, 1])",
       false,
       false},
      {"ints in an array of floats",
       {R"("type":"array","items":{"type":"float"})", "[[1.0,2.0]]"},
       "f(a=[1, 2])",
       false,
       true},
      {"a list for a tuple",
       {R"("type":"tuple","items":{"type":"integer"})", "[[1,2]]"},
       "f(a=[1, 2])",
       true,
       true},
      {"a dict in a dict, as it stands",
       {R"("type":"dict")", R"([{"k":[{"x":1}]}])"},
       "f(a={'k': {'x': 1}})",
       true,
       true},
      {"a dict in a dict, with lists of values",
       {R"("type":"dict")", R"([{"k":[{"x":[1,2]}]}])"},
       "f(a={'k': {'x': 2}})",
       false,
       true},
      {"an optional one left out", {R"("type":"string")", R"(["x",""])"}, "f()", true, true},
      {"another one left out", {R"("type":"string")", R"(["x"])"}, "f()", false, false},
      {"a default that is not listed",
       {R"("type":"string","default":"d")", R"(["x",""])"},
       "f(a='d')",
       false,
       false},
      {"an optional one given as nothing", {R"("type":"string")", R"(["x",""])"}, "f(a='')", true, true},
  };
  return all;
}

/// A reply to an item of a category with the functions f and g, whose parameter `a` is an integer.
score::verdict judge(std::string_view scorer, std::string_view category, std::string_view target,
                     const chat::reply& answer) {
  const std::string parameters = R"({"type":"dict","properties":{"a":{"type":"integer"}},"required":["a"]})";
  const std::vector<chat::tool> tools{{"f", "", parameters}, {"m.g", "", parameters}};
  const auto parsed = *json::parse(target);
  const auto found = score::find_scorer(scorer);
  REQUIRE(found);
  const score::task task{&parsed, &tools, category};
  REQUIRE((*found)->check(task));
  auto out = (*found)->score(task, answer);
  CHECK(out.scored);
  return out;
}

bool fits(std::string_view scorer, std::string_view category, std::string_view target, std::string text) {
  chat::reply answer;
  answer.text = std::move(text);
  return judge(scorer, category, target, answer).value == 1;
}

}  // namespace

TEST_CASE("bfcl: BFCL's own verdicts, and strictly the odd ones mended") {
  for (const auto& one : truth_table()) {
    CHECK_MESSAGE(right("bfcl", one.asked, one.reply) == one.compat, one.what);
    CHECK_MESSAGE(right("bfcl_strict", one.asked, one.reply) == one.strict, one.what << ", strictly");
  }
}

TEST_CASE("bfcl: parallel calls in any order, each expected one with a call of its own") {
  constexpr std::string_view two = R"([{"f":{"a":[20]}},{"f":{"a":[30]}}])";
  for (const auto* scorer : {"bfcl", "bfcl_strict"}) {
    CHECK(fits(scorer, "parallel", two, "[f(a=30), f(a=20)]"));
    CHECK_FALSE(fits(scorer, "parallel", two, "[f(a=20), f(a=20)]"));
    CHECK_FALSE(fits(scorer, "parallel", two, "[f(a=20)]"));
    CHECK_FALSE(fits(scorer, "parallel", two, "[f(a=20), f(a=30), f(a=30)]"));
    CHECK(fits(scorer, "live_parallel_multiple", R"([{"f":{"a":[1]}},{"m.g":{"a":[1]}}])",
               "[m.g(a=1), f(a=1)]"));
  }
  // The first expected call takes the call that only the second one could use otherwise.
  constexpr std::string_view crossed = R"([{"f":{"a":[1,2]}},{"f":{"a":[1]}}])";
  CHECK_FALSE(fits("bfcl", "parallel", crossed, "[f(a=1), f(a=2)]"));
  CHECK(fits("bfcl_strict", "parallel", crossed, "[f(a=1), f(a=2)]"));
}

TEST_CASE("bfcl: of irrelevant functions none is to be called, of relevant ones some") {
  for (const auto* category : {"irrelevance", "live_irrelevance"}) {
    CHECK(fits("bfcl", category, "null", "I cannot help with that."));
    CHECK(fits("bfcl", category, "null", ""));
    CHECK_FALSE(fits("bfcl", category, "null", "[f(a=1)]"));
  }
  CHECK(fits("bfcl", "live_relevance", "null", "h(x=1)"));
  CHECK_FALSE(fits("bfcl", "live_relevance", "null", "I cannot help with that."));
  CHECK_FALSE(fits("bfcl", "live_relevance", "null", "[]"));
  chat::reply answer;
  answer.calls = {{"1", "f", "{}"}};
  CHECK(judge("bfcl", "irrelevance", "null", answer).reason == "got a call, expected none");
  CHECK(judge("bfcl", "live_relevance", "null", answer).value == 1);
}

TEST_CASE("bfcl: values in Java and JavaScript are read from their source text") {
  const auto java = [](std::string type, std::string accepted, const std::string& reply) {
    return right("bfcl", {std::move(type), std::move(accepted), "simple_java"}, reply);
  };
  CHECK(java(R"("type":"long")", "[42]", "f(a=42L)"));
  CHECK_FALSE(java(R"("type":"long")", "[42]", "f(a=42)"));
  CHECK(java(R"("type":"ArrayList","items":{"type":"long"})", "[[101,202]]",
             "f(a=new ArrayList<Long>(Arrays.asList(101L, 202L)))"));
  CHECK(java(R"("type":"Array","items":{"type":"integer"})", "[[2,7]]", "f(a=new int[]{2, 7})"));
  CHECK(java(R"("type":"HashMap")", R"(["envVariables"])", "f(a=envVariables)"));
  const auto script = [](std::string type, std::string accepted, const std::string& reply) {
    return right("bfcl", {std::move(type), std::move(accepted), "simple_javascript"}, reply);
  };
  CHECK(script(R"("type":"array","items":{"type":"float"})", "[[60,30]]", "f(a=[60, 30])"));
  CHECK(script(R"("type":"Boolean")", "[true]", "f(a=true)"));
  CHECK(script(R"("type":"dict")", R"([{"s":["stateObj"],"m":[["logger"]],"e":[["a","b"]]}])",
               R"(f(a={"s": stateObj, "m": ["logger"], "e": ["a","b"]}))"));
}

TEST_CASE("bfcl: arguments of native calls in Java are strings, too") {
  const std::vector<chat::tool> tools{
      {"A.f", "",
       R"({"type":"dict","properties":{"a":{"type":"HashMap"},"b":{"type":"integer"}},"required":["a"]})"}};
  const auto target = *json::parse(R"([{"A.f":{"a":[{"limit":[50]}],"b":["",7]}}])");
  const score::task task{&target, &tools, "simple_java"};
  const auto value = [&](std::string arguments) {
    chat::reply answer;
    answer.calls = {{"1", "A_f", std::move(arguments)}};
    return (*score::find_scorer("bfcl"))->score(task, answer).value;
  };
  CHECK(value(R"js({"a":"new HashMap<String, Integer>() {{ put(\"limit\", 50); }}"})js") == 1);
  CHECK(value(R"js({"a":"new HashMap<>() {{ put(\"limit\", 50); }}","b":"7"})js") == 1);
  CHECK(value(R"js({"a":"new HashMap<>() {{ put(\"limit\", 50); }}","b":7})js") == 0);
  CHECK(value(R"({"a":{"limit":50}})") == 0);
}

TEST_CASE("bfcl: hostile replies are scored within a second each") {
  const std::string deep = "[f(a=" + std::string(10'000, '{');
  const std::string long_text(2'000'000, 'a');
  std::string calls = "[f(a=1)";
  while (calls.size() < 250'000) calls += ", f(a=1)";
  std::string map = "f(a=new HashMap<String, String>() {{ ";
  while (map.size() < 200'000) map += "put(\"k\", [1, {";
  for (const auto& text : {deep, long_text, calls, map, "f(a=" + std::string(200'000, '[') + ")",
                           "f(a=" + std::string(200'000, '-') + "1)", "f(a=\"" + long_text + "\")"}) {
    for (const char* category :
         {"simple_python", "parallel", "simple_java", "simple_javascript", "irrelevance"}) {
      for (const char* type : {R"("type":"HashMap")", R"("type":"dict")", R"("type":"any")"}) {
        const bool known = std::string_view(type).find("any") != std::string_view::npos ||
                           (std::string_view(category) == "simple_java") ==
                               (std::string_view(type).find("HashMap") != std::string_view::npos);
        if (!known) continue;
        const auto begun = std::clock();
        CHECK(right("bfcl", {type, R"([{"k":["v"]}])", category}, text) ==
              (std::string_view(category) == "irrelevance" && text != calls && !text.ends_with("\")")));
        const double took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        CHECK_MESSAGE(took < 1, std::string(category), " ", std::string(type), " on ", text.substr(0, 20),
                      " took ", took);
      }
    }
  }
}
