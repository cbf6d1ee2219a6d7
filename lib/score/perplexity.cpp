#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "score/python_text.hpp"
#include "score/scorers.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

constexpr const char* wanted = "scorer perplexity: the target must be a text, whose likelihood is measured";

/// As lm-eval counts them: what white space parts, an empty piece before the first or behind the last
/// included.
double words(std::string_view text) {
  const auto held = python_words(text);
  if (held.empty()) return text.empty() ? 1 : 2;
  const bool before = held.front().data() != text.data();
  const bool behind = held.back().data() + held.back().size() != text.data() + text.size();
  return static_cast<double>(held.size()) + (before ? 1 : 0) + (behind ? 1 : 0);
}

class perplexity final : public scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "perplexity"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "acc"; }
  [[nodiscard]] std::vector<further_metric> further_metrics() const override {
    return {{.name = "perplexity", .comes_to = figure::perplexity},
            {.name = "word_perplexity", .comes_to = figure::perplexity},
            {.name = "byte_perplexity", .comes_to = figure::perplexity},
            {.name = "bits_per_byte", .comes_to = figure::bits_per_unit}};
  }

  [[nodiscard]] result<void> check(const task& what) const override {
    const bool one = what.choices != nullptr && what.choices->size() == 1;
    const auto* text = what.target->if_string();
    if (!one || text == nullptr || *text != what.choices->front())
      return fail(errc::bad_suite, stage::suite, wanted);
    return {};
  }

  [[nodiscard]] verdict score(const task& what, const chat::reply& answer) const override {
    verdict out;
    if (auto fit = check(what); !fit) {
      out.reason = wanted;
      return out;
    }
    if (answer.choices.size() != 1) {
      out.reason = "the reply does not have the likelihood of the target";
      return out;
    }
    const auto& measured = answer.choices.front();
    const double sum = measured.sum_logprob;
    if (!std::isfinite(sum)) {
      out.reason = "the likelihood of the target is no finite number";
      return out;
    }
    const auto& text = what.choices->front();
    const auto bytes = static_cast<double>(text.size());
    out.further = {{"perplexity", sum},
                   {"word_perplexity", sum, words(text)},
                   {"byte_perplexity", sum, bytes},
                   {"bits_per_byte", sum, bytes}};
    if (!measured.is_greedy) {
      out.reason = "the backend does not tell whether the target is what it finds the likeliest";
      return out;
    }
    out.scored = true;
    out.value = *measured.is_greedy ? 1 : 0;
    out.extracted = text;
    if (!*measured.is_greedy) out.reason = "\"" + clipped(text) + "\" is not the likeliest text";
    return out;
  }
};

}  // namespace

made_scorer make_perplexity(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<perplexity>();
}

}  // namespace evalcore::score
