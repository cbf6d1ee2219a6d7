#include <doctest/doctest.h>

#include <string>

#include <evalcore/score/scorer.hpp>

using namespace evalcore;

namespace {

/// One function g.f with one required parameter `a`, and with `b`, which is optional.
struct item {
  std::string type = R"("type":"string")";  ///< Of `a`.
  std::string accepted = R"(["x"])";
  std::string accepted_b = R"([""])";
  std::string category = "simple_python";

  [[nodiscard]] std::vector<chat::tool> tools() const {
    return {
        {"other", "", R"({"type":"dict","properties":{},"required":[]})"},
        {"g.f", "",
         R"({"type":"dict","properties":{"a":{)" + type + R"(},"b":{"type":"string"}},"required":["a"]})"}};
  }
  [[nodiscard]] json::value target() const {
    return *json::parse(R"([{"g.f":{"a":)" + accepted + R"(,"b":)" + accepted_b + "}}]");
  }
};

score::verdict judge(const item& what, const chat::reply& answer) {
  const auto scorer = score::find_scorer("bfcl");
  REQUIRE(scorer);
  const auto tools = what.tools();
  const auto target = what.target();
  const score::task task{&target, &tools, what.category};
  REQUIRE((*scorer)->check(task));
  auto out = (*scorer)->score(task, answer);
  CHECK(out.scored);
  CHECK(out.reason.empty() == (out.value == 1));
  return out;
}

score::verdict judge(const item& what, std::string text) {
  chat::reply answer;
  answer.text = std::move(text);
  return judge(what, answer);
}

/// Whether `a` may have this value.
bool accepts(const item& what, const std::string& value) {
  return judge(what, "[g.f(a=" + value + ")]").value == 1;
}

item with(std::string type, std::string accepted) {
  return {std::move(type), std::move(accepted), R"([""])", "multiple"};
}

const std::string string_type = R"("type":"string")";
const std::string integer_type = R"("type":"integer")";
const std::string float_type = R"("type":"float")";
const std::string boolean_type = R"("type":"boolean")";
const std::string dict_type = R"("type":"dict")";
const std::string floats_type = R"("type":"array","items":{"type":"float"})";
const std::string integers_type = R"("type":"array","items":{"type":"integer"})";
const std::string strings_type = R"("type":"array","items":{"type":"string"})";
const std::string dicts_type = R"("type":"array","items":{"type":"dict"})";
const std::string tuple_type = R"("type":"tuple","items":{"type":"float"})";

}  // namespace

// The verdicts of BFCL's ast_checker, measured.

TEST_CASE("bfcl: int for float is right; float for int, bool for int and int for bool are wrong") {
  CHECK(accepts(with(float_type, "[5.0]"), "5"));
  CHECK_FALSE(accepts(with(integer_type, "[5]"), "5.0"));
  CHECK_FALSE(accepts(with(integer_type, "[1]"), "True"));
  CHECK_FALSE(accepts(with(boolean_type, "[true]"), "1"));
  CHECK(accepts(with(boolean_type, "[true]"), "True"));
  CHECK_FALSE(accepts(with(boolean_type, "[true]"), "'true'"));
}

TEST_CASE("bfcl: inside a dict true and 1 are the same") {
  CHECK(accepts(with(dict_type, R"([{"k":[true]}])"), "{'k': 1}"));
  CHECK(accepts(with(dict_type, R"([{"k":[1]}])"), "{'k': True}"));
}

TEST_CASE("bfcl: case, blanks and some punctuation of strings do not count") {
  CHECK(accepts(with(string_type, R"(["5"])"), "'-5'"));
  CHECK(accepts(with(string_type, R"(["15"])"), "'1.5'"));
  CHECK(accepts(with(string_type, R"(["San Francisco, CA"])"), "'san francisco ca'"));
  CHECK(accepts(with(string_type, R"(["it's"])"), "'it\"s'"));
  CHECK(accepts(with(string_type, R"(["SÃO PAULO"])"), "'são paulo'"));
  CHECK(accepts(with(string_type, R"(["ΟΔΟΣ"])"), "'οδος'"));
  CHECK_FALSE(accepts(with(string_type, R"(["a:b"])"), "'ab'"));
}

TEST_CASE("bfcl: the order of a list counts") {
  CHECK(accepts(with(integers_type, "[[1,2]]"), "[1, 2]"));
  CHECK_FALSE(accepts(with(integers_type, "[[1,2]]"), "[2, 1]"));
  CHECK(accepts(with(strings_type, R"([["New York","LA"]])"), "['new york', 'la']"));
}

TEST_CASE("bfcl: ints in an array of floats are wrong, the conversion is for single values") {
  CHECK(accepts(with(floats_type, "[[1.0,2.0]]"), "[1.0, 2.0]"));
  CHECK_FALSE(accepts(with(floats_type, "[[1.0,2.0]]"), "[1, 2]"));
}

TEST_CASE("bfcl: a list passes for a tuple, a tuple not for a list") {
  CHECK(accepts(with(tuple_type, "[[1.0,2.0]]"), "[1.0, 2.0]"));
  CHECK(accepts(with(tuple_type, "[[1.0,2.0]]"), "(1.0, 2.0)"));
  CHECK_FALSE(accepts(with(floats_type, "[[1.0,2.0]]"), "(1.0, 2.0)"));
}

TEST_CASE("bfcl: a dict in a dict is compared as it stands; lists of choices inside it are not choices") {
  CHECK(accepts(with(dict_type, R"([{"k":[{"m":1}]}])"), "{'k': {'m': 1}}"));
  CHECK_FALSE(accepts(with(dict_type, R"([{"k":[{"m":[1]}]}])"), "{'k': {'m': 1}}"));
}

TEST_CASE("bfcl: a parameter may be left out when the target lists the empty string") {
  CHECK(judge(with(string_type, R"(["x"])"), "g.f(a='x')").value == 1);
  const item needed{string_type, R"(["x"])", R"(["y"])", "multiple"};
  CHECK(judge(needed, "g.f(a='x')").value == 0);
  CHECK(judge(needed, "g.f(a='x', b='y')").value == 1);
}

TEST_CASE("bfcl: an optional parameter given its default is wrong unless the default is listed") {
  const item optional{string_type, R"(["x"])", R"(["y",""])", "multiple"};
  CHECK(judge(optional, "g.f(a='x', b='default')").value == 0);
  CHECK(judge(optional, "g.f(a='x', b='y')").value == 1);
  CHECK(judge(optional, "g.f(a='x', b='')").value == 1);
}

TEST_CASE("bfcl: members of a dict") {
  const item what = with(dict_type, R"([{"k":["Large","big"],"m":[1,""]}])");
  CHECK(accepts(what, "{'k': 'large', 'm': 1}"));
  CHECK(accepts(what, "{'m': 1, 'k': 'BIG'}"));
  CHECK(accepts(what, "{'k': 'big'}"));
  CHECK_FALSE(accepts(what, "{'m': 1}"));
  CHECK_FALSE(accepts(what, "{'k': 'big', 'n': 1}"));
  CHECK_FALSE(accepts(what, "{'k': 'small'}"));
  CHECK_FALSE(accepts(what, "'big'"));
  CHECK(accepts(with(dicts_type, R"([[{"k":[1]},{"k":[2]}]])"), "[{'k': 1}, {'k': 2}]"));
  CHECK_FALSE(accepts(with(dicts_type, R"([[{"k":[1]},{"k":[2]}]])"), "[{'k': 2}, {'k': 1}]"));
  CHECK_FALSE(accepts(with(dicts_type, R"([[{"k":[1]},{"k":[2]}]])"), "[{'k': 1}]"));
}

TEST_CASE("bfcl: a variable passes when the target names it") {
  CHECK(accepts(with(integer_type, R"(["count"])"), "count"));
  CHECK_FALSE(accepts(with(integer_type, R"(["count"])"), "Count"));
  CHECK_FALSE(accepts(with(integer_type, "[3]"), "count"));
}

TEST_CASE("bfcl: exactly one call, of the right function, with the right parameters") {
  const item what;
  CHECK(judge(what, "[g.f(a='x')]").value == 1);
  CHECK(judge(what, "[g.f(a='x'), g.f(a='x')]").reason == "got 2 calls, expected 1");
  CHECK(judge(what, "[]").reason == "got 0 calls, expected 1");
  CHECK(judge(what, "f(a='x')").reason == "got function f, expected g.f");
  CHECK(judge(what, "g_f(a='x')").reason == "got function g_f, expected g.f");
  CHECK(judge(what, "g.f()").reason == "required parameter a is missing");
  CHECK(judge(what, "g.f(a='x', c=1)").reason == "unexpected parameter c");
}

TEST_CASE("bfcl: the reason names the parameter, what came and what was expected") {
  CHECK(judge(with(integer_type, "[5]"), "g.f(a=5.0)").reason ==
        "parameter a: got 5.0 of type float, expected type integer");
  CHECK(judge(with(integer_type, "[5,6]"), "g.f(a=7)").reason ==
        "parameter a: got 7, expected one of [5, 6]");
  CHECK(judge(with(dict_type, R"([{"k":["x"]}])"), "g.f(a={'k': 'y'})").reason ==
        "parameter a: key 'k': got 'y', expected one of ['x']");
}

TEST_CASE("bfcl: a reply that is no call is wrong, not unscored") {
  for (const char* text : {"", "I cannot do that.", "[g.f(a='x'", "Sure: g.f(a='x')"}) {
    CHECK_MESSAGE(judge(item{}, text).value == 0, text);
  }
  chat::reply cut;
  cut.text = "[g.f(a='x";
  cut.finish = chat::finish_reason::length;
  CHECK(judge(item{}, cut).value == 0);
}

TEST_CASE("bfcl: native calls count before the text, and dots in names may have become underscores") {
  chat::reply answer;
  answer.text = "Let me look that up.";
  answer.calls = {{"1", "g_f", R"({"a":"x"})"}};
  CHECK(judge(item{}, answer).value == 1);
  CHECK(judge(item{}, answer).extracted == "[g_f(a='x')]");
  answer.calls[0].name = "g.f";
  CHECK(judge(item{}, answer).value == 1);
  answer.calls[0].name = "gf";
  CHECK(judge(item{}, answer).value == 0);
  answer.calls = {{"1", "g_f", R"({"a":)"}};
  CHECK(judge(item{}, answer).value == 0);
  answer.calls = {{"1", "g_f", ""}};
  CHECK(judge(item{}, answer).reason == "required parameter a is missing");
}

TEST_CASE("bfcl: what is not built and what a target lacks is said before anything is sent") {
  const auto scorer = score::find_scorer("bfcl");
  REQUIRE(scorer);
  CHECK((*scorer)->metric() == "accuracy");
  const auto tools = item{}.tools();
  const auto message = [&](std::string_view target, std::string_view category) {
    const auto parsed = json::parse(target);
    REQUIRE(parsed);
    const score::task task{&*parsed, &tools, category};
    const auto checked = (*scorer)->check(task);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == errc::bad_suite);
    const auto verdict = (*scorer)->score(task, {});
    CHECK_FALSE(verdict.scored);
    CHECK(verdict.reason == checked.error().message);
    return checked.error().message;
  };
  CHECK(message(R"([{"g.f":{"a":["x"]}}])", "multi_turn_base") ==
        "scorer bfcl: not supported yet: multi_turn");
  CHECK(message(R"([{"h":{"a":["x"]}}])", "") ==
        "scorer bfcl: the target calls h, which is not among the tools");
  CHECK(message(R"([{"g.f":{"a":"x"}}])", "") ==
        "scorer bfcl: the target's parameter a has no list of accepted values");
  for (const char* target : {"null", "[]", "{}", "[1]", R"([{"g.f":[]}])", R"([{"g.f":{},"other":{}}])"}) {
    CHECK(message(target, "").find("the target must be a list of calls, each {function") !=
          std::string::npos);
  }
}

TEST_CASE("bfcl: a tool that is not in BFCL's form is named") {
  const auto scorer = score::find_scorer("bfcl");
  const auto target = *json::parse(R"([{"f":{"a":["x"]}}])");
  const auto message = [&](std::string parameters) {
    const std::vector<chat::tool> tools{{"f", "", std::move(parameters)}};
    const auto checked = (*scorer)->check({&target, &tools, {}});
    return checked ? std::string() : checked.error().message;
  };
  CHECK(message(R"({"properties":{"a":{"type":"string"}}})").empty());
  CHECK(message("{}") == "scorer bfcl: the parameters of function f have no \"properties\" object");
  CHECK(message(R"({"properties":{"a":{"type":"number"}}})") ==
        "scorer bfcl: parameter a of function f has type \"number\"; known are string, integer, float, "
        "boolean, array, "
        "tuple, dict, any");
  CHECK(message(R"({"properties":{"a":{"type":"array"}}})").find("has items of type \"\"") !=
        std::string::npos);
  CHECK(message(R"({"properties":{},"required":"a"})") ==
        "scorer bfcl: \"required\" of function f is not a list of names");
}
