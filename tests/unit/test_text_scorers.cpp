#include <ctime>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "unit/scoring.hpp"

using namespace evalcore;
using test::right;

TEST_CASE("includes: one of the texts, anywhere") {
  CHECK(right("includes", R"("Paris")", "It is Paris."));
  CHECK(right("includes", R"(["Lyon","Paris"])", "It is Paris."));
  CHECK_FALSE(right("includes", R"("paris")", "It is Paris."));
  CHECK(right(R"({"name":"includes","ignore_case":true})", R"("PARIS")", "It is paris."));
  CHECK(right("includes", R"("0")", "0 errors"));
  CHECK(test::judge("includes", R"("x")", "y").reason == R"(got "y", expected "x" in it)");
  for (const char* target : {R"("")", R"([" "])", "0", "null"})
    CHECK_FALSE_MESSAGE(test::complaint("includes", target).empty(), target);
}

// Worked by hand with SQuAD's rules: 2·p·r / (p + r) over the words that both have.
TEST_CASE("f1: overlap of words in SQuAD's normal form") {
  const auto f1 = [](std::string_view target, std::string text) {
    const auto out = test::judge("f1", target, std::move(text));
    CHECK(out.scored);
    REQUIRE(out.further.size() == 1);
    return std::pair(out.value, out.further[0].value);
  };
  CHECK(f1(R"("The cat sat.")", "cat sat") == std::pair(1.0, 1.0));
  // cat, sat of cat, sat, on, mat (p = 1/2) and of cat, sat (r = 1).
  CHECK(f1(R"("cat sat")", "a cat sat on the mat").first == doctest::Approx(2.0 / 3));
  CHECK(f1(R"(["dog","cat sat"])", "sat").first == doctest::Approx(2.0 / 3));
  CHECK(f1(R"("x x y")", "x x x").first == doctest::Approx(2.0 / 3));
  CHECK(f1(R"("dog")", "cat") == std::pair(0.0, 0.0));
  // A text of nothing but articles keeps them.
  for (const char* word : {"A", "An", "the"})
    CHECK(f1(json::to_text(json::value(word)), word) == std::pair(1.0, 1.0));
  CHECK(f1(R"(" hello")", "hello").first == 1);
  CHECK(f1(R"([""])", "hello").first == 0);
  CHECK(f1(R"(["","hello"])", "hello").first == 1);
}

TEST_CASE("what is told beside a score has a name that is no scorer's metric") {
  std::set<std::string_view> metrics;
  std::set<std::string_view> further;
  for (const auto name : score::scorer_names()) {
    const bool needs_pattern = name == "regex";
    const auto one = score::find_scorer(needs_pattern ? R"({"name":"regex","pattern":"x"})" : name);
    REQUIRE_MESSAGE(one, name);
    metrics.insert((*one)->metric());
    for (const auto& beside : (*one)->further_metrics()) further.insert(beside.name);
  }
  CHECK(further == std::set<std::string_view>{"acc_norm", "quasi_exact_match", "brier_score", "perplexity",
                                              "word_perplexity", "byte_perplexity", "bits_per_byte"});
  for (const auto beside : further) CHECK_FALSE_MESSAGE(metrics.contains(beside), beside);
}

TEST_CASE("math: answers in boxes, with or without braces") {
  CHECK(right("math", R"("7")", "giving $\\boxed 7$."));
  CHECK(right("math", R"("\\frac{1}{2}")", "so \\boxed{\\dfrac12}"));
  CHECK(right("math", R"("\\frac{1}{2}")", "so \\boxed{x} and then \\boxed{\\frac{1}{2}}"));
  CHECK(right("math", R"("12")", "The answer is $12$."));
  CHECK(right("math", R"("12")", "Thus $x = 12$"));
  CHECK(right("math", R"("We get $\\boxed{3}$.")", "3"));
  CHECK(test::judge("math", R"("1")", "\\boxed{inf}").value == 0);
  CHECK(test::judge("math", R"("1")", "").no_answer);
}

TEST_CASE("math: tuples, intervals and sets are compared by their elements") {
  for (const auto& [one, other] : {std::pair("(2,4)", "(2, 4)"),
                                   {"[2,5)", "[2,5)"},
                                   {"{5, 3}", "{3, 5}"},
                                   {"\\{1,\\frac12\\}", "\\{\\frac{1}{2}, 1\\}"},
                                   {"(1,0.50)", "(1, 0.5)"}})
    CHECK_MESSAGE(right("math", json::to_text(json::value(one)), std::string("\\boxed{") + other + "}"), one);
  for (const auto& [one, other] :
       {std::pair("(2,4)", "(4,2)"), {"[2,5)", "[2,5]"}, {"{3,5,8}", "{3,5}"}, {"{3,3,5}", "{3,5,5}"}})
    CHECK_FALSE_MESSAGE(right("math", json::to_text(json::value(one)), std::string("\\boxed{") + other + "}"),
                        one);
}

TEST_CASE("json: equal values, wherever the JSON stands") {
  constexpr std::string_view target = R"({"a":"x,] y,}","n":1})";
  CHECK(right("json", target, R"({"n": 1.0, "a": "x,] y,}"})"));
  CHECK(right("json", target, "Sure:\n```json\n{\"a\":\"x,] y,}\",\"n\":1}\n```\nDone."));
  CHECK(right("json", target, R"(It is {"a":"x,] y,}","n":1}, I think.)"));
  CHECK_FALSE(right("json", target, R"({"a":"x,] y,}","n":true})"));
  CHECK_FALSE(right("json", "1", "true"));
  CHECK_FALSE(right("json", "[1,2]", "[2,1]"));
  CHECK(right("json", "9007199254740993", "9007199254740993"));
  CHECK_FALSE(right("json", "9007199254740993", "9007199254740992"));
  CHECK(test::judge("json", target, R"({"a":)").no_answer);
}

TEST_CASE("json_schema: whether the JSON of the reply is valid") {
  constexpr std::string_view schema =
      R"({"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false})";
  CHECK(right("json_schema", schema, R"({"n": 1})"));
  CHECK(right("json_schema", schema, "```json\n{\"n\": 2}\n```"));
  for (const char* reply : {R"({"n": 0})", R"({"n": "1"})", "{}", R"({"n":1,"m":2})", "[]", "n is 1"})
    CHECK_FALSE_MESSAGE(right("json_schema", schema, reply), reply);
  CHECK(test::judge("json_schema", schema, "n is 1").no_answer);
  CHECK(test::judge("json_schema", schema, R"({"n": 0})").reason ==
        "<root>[n]: Expected number greater than or equal to 1.000000");
  CHECK(test::complaint("json_schema", R"({"properties":{"pattern":{"type":"string"}}})").empty());
  CHECK(test::complaint("json_schema", R"({"type":"string","pattern":"(a+)+$"})").find("not supported") !=
        std::string::npos);
  for (const char* target : {"1", R"({"type":7})"})
    CHECK_FALSE_MESSAGE(test::complaint("json_schema", target).empty(), target);
}

// JSON Schema draft 7, Validation, 6.1.1: "integer" matches any number with a zero fractional part.
TEST_CASE("json_schema: a schema that cannot be read leaves every reply unscored") {
  for (const char* reply : {"1", "no JSON", "<think>hmm"}) {
    const auto out = test::judge("json_schema", R"({"$ref":"#"})", reply);
    CHECK_FALSE_MESSAGE(out.scored, reply);
    CHECK_FALSE_MESSAGE(out.no_answer, reply);
    CHECK(out.reason.find("leads back to itself") != std::string::npos);
  }
}

TEST_CASE("json_schema: what is wrong in a reply is told of one that is not long") {
  const auto list = [](int length) {
    std::string out = "[";
    for (int i = 0; i < length; ++i) out += "1,";
    return out + "2]";
  };
  for (const auto& [length, why] : {std::pair(3, "<root>[3]"), {60'000, "is not valid"}}) {
    const auto out = test::judge("json_schema", R"({"items":{"const":1}})", list(length));
    CHECK((out.scored && out.value == 0));
    CHECK_MESSAGE(out.reason.find(why) != std::string::npos, out.reason);
  }
  CHECK(right("json_schema", R"({"items":{"maximum":2}})", list(60'000)));
}

TEST_CASE("json_schema: an integer is one however it is written") {
  for (const char* reply : {"1", "1.0", "1e2", "-0.0", "9007199254740993"})
    CHECK_MESSAGE(right("json_schema", R"({"type":"integer"})", reply), reply);
  for (const char* reply : {"1.5", "1e-2", "true", R"("1")"})
    CHECK_FALSE_MESSAGE(right("json_schema", R"({"type":"integer"})", reply), reply);
  CHECK(right("json_schema", R"({"properties":{"n":{"enum":[1.0]}}})", R"({"n":1})"));
  CHECK(right("json_schema", R"({"const":1})", "1.0"));
  CHECK(right("json_schema", R"({"type":"number","minimum":1e300})", "1e301"));
  CHECK(right("json_schema", R"({"multipleOf":2.0})", "4"));
}

// JSON Schema draft 7, Validation, 6.2.1.
TEST_CASE("json_schema: a multiple is one with nothing left over, not even a fraction") {
  for (const char* reply : {"4", "-4", "0", "4.0", R"("no number")"})
    CHECK_MESSAGE(right("json_schema", R"({"multipleOf":2})", reply), reply);
  for (const char* reply : {"4.5", "5", "2.0000001", "-0.5"})
    CHECK_FALSE_MESSAGE(right("json_schema", R"({"multipleOf":2})", reply), reply);
  CHECK_FALSE(right("json_schema", R"({"multipleOf":1})", "0.5"));
  CHECK(right("json_schema", R"({"multipleOf":1})", "9007199254740992"));
}

TEST_CASE("json: a number that is too great to read is told apart from no JSON") {
  for (const char* reply : {"18446744073709551616", R"({"n":[-9223372036854775809]})", "[1e400]"}) {
    for (const char* named : {"json", "json_schema"}) {
      const auto out = test::judge(named, "{}", reply);
      CHECK_FALSE_MESSAGE(out.scored, reply);
      CHECK(out.reason == "the JSON of the reply has a number beyond 64 bits");
    }
  }
  const auto out = test::judge("json_schema", R"({"minimum":0})", "18446744073709551615");
  CHECK_FALSE(out.scored);
  CHECK(out.reason == "the JSON of the reply has an integer beyond 2^63");
  CHECK(right("json", "18446744073709551615", "18446744073709551615"));
  for (const auto& reply : {std::string("18446744073709551616 apples"), std::string("01"),
                            std::string("[NaN]"), std::string(200, '[') + std::string(200, ']')})
    CHECK_MESSAGE(test::judge("json", "1", reply).no_answer, reply);
}

TEST_CASE("json_schema: a schema that would end the process, or never end, is refused") {
  const auto refused = [](std::string_view schema, std::string_view why) {
    CHECK_MESSAGE(test::complaint("json_schema", schema).find(why) != std::string::npos, schema);
  };
  for (
      const char* schema : {
          R"({"$ref":"#"})",
          R"({"allOf":[{"$ref":"#"}]})",
          R"({"definitions":{"n":{"$ref":"#/definitions/n"}},"properties":{"x":{"$ref":"#/definitions/n"}}})",
          R"({"definitions":{"a":{"not":{"$ref":"#/definitions/b"}},"b":{"if":{"$ref":"#/definitions/a"}}}})",
          R"({"properties":{"x":{"dependencies":{"y":{"$ref":"#/properties/x"}}}}})",
          R"({"definitions":{"a/b":{"anyOf":[{"$ref":"#/definitions/a~1b/"}]}}})",
      })
    refused(schema, "leads back to itself");
  for (const char* divisor : {"0", "0.0", "-1", "18446744073709551615"})
    refused(std::string(R"({"multipleOf":)") + divisor + "}", R"("multipleOf" must be above 0)");
  for (const char* ref : {"#/definitions/none", "#/allOf/1", "other.json", "#%2F"})
    refused(std::string(R"({"allOf":[{"$ref":")") + ref + R"("}]})", "must point into the schema");
  refused(R"({"id":"a/","properties":{"x":{"$ref":"#"}}})", "absolute");

  const auto chain = [](int length) {
    std::string out = R"({"$ref":"#/definitions/0","definitions":{)";
    for (int i = 0; i < length; ++i)
      out += "\"" + std::to_string(i) + R"(":{"properties":{"x":{"$ref":"#/definitions/)" +
             std::to_string(i + 1) + R"("}}},)";
    return out + "\"" + std::to_string(length) + R"(":{"type":"integer"}}})";
  };
  refused(chain(10'000), "too many");
  CHECK(right("json_schema", chain(100), R"({"x":{"x":{}}})"));
}

TEST_CASE("json_schema: a schema that names itself for the parts of a value is one of a tree") {
  constexpr std::string_view tree =
      R"({"properties":{"n":{"type":"number","multipleOf":0.5},"of":{"type":"array","items":{"$ref":"#"}}}})";
  CHECK(right("json_schema", tree, R"({"n":1.5,"of":[{"n":2,"of":[]}]})"));
  CHECK_FALSE(right("json_schema", tree, R"({"of":[{"of":[{"n":1.2}]}]})"));
  CHECK(right("json_schema", R"({"definitions":{"a":{"type":"null"}},"allOf":[{"$ref":"#/definitions/a"}]})",
              "null"));
}

TEST_CASE("reasoning is no part of an answer, and one that has no end leaves none") {
  CHECK(right("numeric", "4", "<think>maybe 5</think>4"));
  CHECK(right("numeric", "4", "maybe 5</think>4"));
  CHECK_FALSE(right("letter", R"("B")", "<think> maybe (B) and then"));
  CHECK(right("numeric", "4", "Use the <think> tag in docs. Answer: 4"));
  CHECK(test::judge("letter", R"("B")", "<think> maybe (B) and then").no_answer);
}

TEST_CASE("a reply that ends in its reasoning is wrong, also where nothing is the right answer") {
  for (const auto& [named, target] : {std::pair(R"({"name":"regex","pattern":"sorry"})", "false"),
                                      {R"({"name":"regex","pattern":"x*"})", "true"},
                                      {"exact", R"("")"},
                                      {"f1", R"([""])"},
                                      {"json_schema", "{}"}}) {
    const auto out = test::judge(named, target, "<think>hmm sorry");
    CHECK_MESSAGE((out.scored && out.value == 0 && out.no_answer), named);
    CHECK(out.reason == "the reply ends in its reasoning");
    for (const auto& one : out.further) CHECK_MESSAGE(one.value == 0, named);
  }
  // The same where the server keeps reasoning apart.
  const auto scorer = score::find_scorer("exact");
  const json::value nothing("");
  chat::reply answer;
  answer.reasoning = "hmm";
  answer.finish = chat::finish_reason::length;
  CHECK((*scorer)->score({&nothing, nullptr, {}}, answer).value == 0);
  answer.finish = chat::finish_reason::stop;
  CHECK((*scorer)->score({&nothing, nullptr, {}}, answer).value == 1);
}

TEST_CASE("an answer that is right because a pattern finds nothing is one") {
  const auto out = test::judge(R"({"name":"regex","pattern":"sorry"})", "false", "<think>sorry</think>Here.");
  CHECK(out.value == 1);
  CHECK_FALSE(out.no_answer);
}

TEST_CASE("an answer that was cut is scored as it stands") {
  const auto scorer = score::find_scorer("letter");
  const json::value target("B");
  chat::reply answer;
  answer.text = "B";
  answer.finish = chat::finish_reason::length;
  CHECK((*scorer)->score({&target, nullptr, {}}, answer).value == 1);
}

TEST_CASE("the steps from a reply to its verdict can be seen") {
  const auto out = test::judge("numeric", "4", "<think>2+2</think>It is $4.00.");
  std::string told;
  for (const auto& one : out.steps) told += std::string(one.name) + "=" + one.text + ";";
  CHECK(told == "reasoning=It is $4.00.;extract=$4.00;normalise=$4.00;compare=right;");
}

TEST_CASE("hostile replies are scored, or unscored with a reason, within a second each") {
  const std::string big(10'000'000, 'a');
  const std::string braces(10'000, '{');
  std::string mixed;
  while (mixed.size() < 1'000'000) mixed += "answer is (A, \\boxed{ ``` [{\"a\": 1,}, I think B ";
  std::string ones = "[1";
  for (int i = 1; i < 200'000; ++i) ones += ",1";
  ones += "]";
  for (const auto& text :
       {big, ones, braces, braces + std::string(10'000, '}'), std::string(200'000, '['), mixed,
        std::string(1'000'000, '$'), "\\boxed" + braces, std::string(1'000'000, ' '),
        "f(" + std::string(100'000, '('), std::string(300'000, '9')}) {
    for (const char* named : {"exact", "includes", "numeric", "letter", "f1", "math", "json", "json_schema",
                              R"re({"name":"regex","pattern":"(a|b|aa)+c"})re",
                              R"re({"name":"regex","pattern":"(?=.)(.*)*x"})re"}) {
      const std::string_view name = named;
      const std::string_view target = name == "numeric"       ? "1"
                                      : name == "json_schema" ? R"({"items":{"$ref":"#"},"multipleOf":2})"
                                                              : R"("A")";
      const auto begun = std::clock();
      const auto out = test::judge(named, target, text);
      const double took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
      CHECK_MESSAGE(took < 1, name, " on ", text.substr(0, 20), " took ", took);
      CHECK((out.scored || !out.reason.empty()));
    }
  }
}
