#include <string>
#include <utility>

#include <evalcore/chat/call_text.hpp>
#include <evalcore/chat/think_text.hpp>

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

/// BFCL's check of calls.
class bfcl final : public scorer {
 public:
  explicit bfcl(bfcl_rules how) : how_(how) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return how_ == bfcl_rules::strict ? "bfcl_strict" : "bfcl";
  }
  [[nodiscard]] std::string_view metric() const noexcept override {
    return how_ == bfcl_rules::strict ? "accuracy_strict" : "accuracy";
  }

  [[nodiscard]] result<void> check(const task& what) const override {
    auto expected = read_expected(what);
    if (!expected) return std::move(expected).error();
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    const auto note = [&](std::string_view step, const std::string& text) {
      if (what.explain) out.steps.push_back({step, text});
    };
    const auto expected = read_expected(what);
    if (!expected) {
      out.reason = expected.error().message;
      return out;
    }
    out.scored = true;
    const bool native = !answer.calls.empty();
    const auto text = native ? std::string() : chat::split_think_text(answer.text).text;
    if (!native) note("reasoning", text);
    // Whether a call is made is asked in Python's form, whatever the functions are written in.
    const auto language = expected->calls.empty() ? chat::call_language::python : expected->language;
    auto calls = native ? chat::calls_from_native(answer.calls) : chat::decode_calls(text, language);
    const bool none_is_an_answer = expected->what == expected_calls::kind::no_call;
    if (!calls && !none_is_an_answer) {
      out.extracted = native ? std::string() : clipped(text);
      out.reason = calls.error().message;
      out.no_answer = true;
      note("decode", out.reason);
      return out;
    }
    if (calls) out.extracted = listing(*calls);
    note("decode", calls ? out.extracted : calls.error().message);
    static const std::vector<chat::python_call> none;
    if (auto why = why_wrong(*expected, calls ? *calls : none, native, how_)) {
      out.reason = *std::move(why);
    } else {
      out.value = 1;
    }
    note("compare", out.reason.empty() ? "right" : out.reason);
    return out;
  }

 private:
  bfcl_rules how_;
};

}  // namespace

made_scorer make_bfcl(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<bfcl>(bfcl_rules::compat);
}

made_scorer make_bfcl_strict(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<bfcl>(bfcl_rules::strict);
}

}  // namespace evalcore::score
