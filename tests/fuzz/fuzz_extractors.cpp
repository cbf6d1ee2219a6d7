#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/score/scorer.hpp>

#include "fuzz/require.hpp"

// The first byte chooses a scorer, the rest is a reply's text: it is scored from 0 to 1 with a reason where
// it is not right, or unscored with a reason, and the same again.

using namespace evalcore;

namespace {

struct question {
  std::string_view scorer;
  std::string_view target;
  std::string_view category = {};
};

constexpr std::array questions{
    question{"exact", R"("4")"},
    question{"includes", R"("4")"},
    question{R"re({"name":"regex","pattern":"(-?[0-9]+)(?=\\D|$)"})re", R"("4")"},
    question{R"re({"name":"regex","pattern":"#### (.*)","ignore_case":true})re", R"("4")"},
    question{"numeric", "4"},
    question{"letter", R"("A, C")"},
    question{"f1", R"("the cat sat")"},
    question{"math", R"("\\frac{1}{2}")"},
    question{"json", R"({"a":[1,2.5]})"},
    question{"bfcl", R"([{"f":{"a":["x"]}},{"f":{"a":[1,""]}}])", "parallel"},
    question{"bfcl_strict", R"([{"f":{"a":["x"]}},{"f":{"a":[1,""]}}])", "parallel"},
    question{"bfcl", R"([{"f":{"a":[{"k":["v"]}],"b":[[1,2]]}}])", "simple_java"},
    question{"bfcl", R"([{"f":{"a":[{"k":["v"]}],"b":[[1,2]]}}])", "simple_javascript"},
    question{"bfcl", "null", "live_irrelevance"},
    question{"json_schema", R"({"items":{"$ref":"#"},"multipleOf":2,"required":["a"]})"},
};

std::vector<chat::tool> tools_for(std::string_view category) {
  const char* parameters = R"({"properties":{"a":{"type":"string"}},"required":[]})";
  if (category == "simple_java") {
    parameters =
        R"({"properties":{"a":{"type":"HashMap"},"b":{"type":"ArrayList","items":{"type":"integer"}}},"required":[]})";
  } else if (category == "simple_javascript") {
    parameters =
        R"({"properties":{"a":{"type":"dict"},"b":{"type":"array","items":{"type":"integer"}}},"required":[]})";
  }
  return {{"f", "", parameters}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& asked = questions[data[0] % questions.size()];
  const auto scorer = score::find_scorer(asked.scorer);
  require(scorer.has_value());
  const auto target = json::parse(asked.target);
  require(target.has_value());
  const auto tools = tools_for(asked.category);
  const score::task task{&*target, &tools, asked.category, nullptr, true};
  require((*scorer)->check(task).has_value());
  chat::reply answer;
  answer.text.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto verdict = (*scorer)->score(task, answer);
  require(verdict.value >= 0 && verdict.value <= 1);
  require(verdict.scored ? verdict.reason.empty() == (verdict.value == 1) : !verdict.reason.empty());
  const auto again = (*scorer)->score(task, answer);
  require(again.value == verdict.value && again.extracted == verdict.extracted &&
          again.reason == verdict.reason);
  return 0;
}
