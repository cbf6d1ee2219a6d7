#include <string>

#include <evalcore/chat/call_text.hpp>

#include "score/bfcl_check.hpp"
#include "score/bfcl_target.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

std::string listing(const std::vector<chat::python_call>& calls) {
  std::string out = "[";
  for (const auto& call : calls) out.append(out.size() > 1 ? ", " : "").append(chat::repr(call));
  return out + "]";
}

/// BFCL's AST check for Python with one expected call; its verdicts, by its own rules ("bfcl-compat").
class bfcl final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "bfcl"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "accuracy"; }

  [[nodiscard]] result<void> check(const task& what) const override {
    auto expected = read_expected_call(what);
    if (!expected) return std::move(expected).error();
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    const auto expected = read_expected_call(what);
    if (!expected) {
      out.reason = expected.error().message;
      return out;
    }
    out.scored = true;
    const bool native = !answer.calls.empty();
    const auto calls = native ? chat::calls_from_native(answer.calls) : chat::decode_calls(answer.text);
    if (!calls) {
      out.extracted = native ? std::string() : clipped(answer.text);
      out.reason = calls.error().message;
      return out;
    }
    out.extracted = listing(*calls);
    if (auto why = why_wrong(*expected, *calls, native)) {
      out.reason = *std::move(why);
    } else {
      out.value = 1;
    }
    return out;
  }
};

}  // namespace

std::shared_ptr<const scorer> make_bfcl() { return std::make_shared<bfcl>(); }

}  // namespace evalcore::score
