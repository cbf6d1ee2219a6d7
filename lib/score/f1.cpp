#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "score/pattern.hpp"
#include "score/python_text.hpp"
#include "score/scorers.hpp"
#include "score/text_scorer.hpp"
#include "score/unicode.hpp"

namespace evalcore::score {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const auto one : words) out.append(out.empty() ? "" : " ").append(one);
  return out;
}

/// SQuAD's normal form: lower case, no punctuation of ASCII, no articles, one blank between words. A text
/// that is nothing but articles keeps them.
std::string normal(std::string_view text) {
  static const pattern article = *pattern::compile_backtracking(R"(\b(a|an|the)\b)");
  std::string plain = lower(text);
  std::erase_if(plain, [](char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  });
  std::string without;
  std::size_t from = 0;
  if (const auto found = article.find_all(plain)) {
    for (const auto& one : *found) {
      const auto begin = static_cast<std::size_t>(one[0]->data() - plain.data());
      without.append(plain, from, begin - from).append(" ");
      from = begin + one[0]->size();
    }
  }
  without.append(plain, from);
  auto out = joined(python_words(without));
  return out.empty() ? joined(python_words(plain)) : out;
}

/// Both in normal form.
double overlap(std::string_view got, std::string_view expected) {
  const auto own = python_words(got);
  const auto wanted_words = python_words(expected);
  if (own.empty() || wanted_words.empty()) return got == expected ? 1 : 0;
  std::map<std::string_view, std::size_t> left;
  for (const auto one : wanted_words) ++left[one];
  std::size_t shared = 0;
  for (const auto one : own) {
    const auto found = left.find(one);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++shared;
  }
  if (shared == 0) return 0;
  const double precision = static_cast<double>(shared) / static_cast<double>(own.size());
  const double recall = static_cast<double>(shared) / static_cast<double>(wanted_words.size());
  return 2 * precision * recall / (precision + recall);
}

class f1 final : public text_scorer {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "f1"; }
  [[nodiscard]] std::string_view metric() const noexcept override { return "f1"; }
  [[nodiscard]] std::vector<further_metric> further_metrics() const override {
    return {{.name = "quasi_exact_match"}};
  }

  [[nodiscard]] result<void> check(const task& what) const override {
    return check_texts(what, name(), true);
  }

 private:
  [[nodiscard]] std::string normalised(std::string answer) const override { return normal(answer); }

  [[nodiscard]] comparison compare(const task& what, const std::string& answer) const override {
    const auto texts = *accepted_texts(*what.target);
    comparison out;
    bool same = false;
    for (const auto one : texts) {
      const auto form = normal(one);
      out.value = std::max(out.value, overlap(answer, form));
      same = same || form == answer;
    }
    out.further = {{"quasi_exact_match", same ? 1.0 : 0.0}};
    if (out.value < 1) out.reason = got_expected(answer, texts);
    return out;
  }
};

}  // namespace

made_scorer make_f1(const options& how) {
  if (auto fit = how.only({}); !fit) return std::move(fit).error();
  return made<f1>();
}

}  // namespace evalcore::score
