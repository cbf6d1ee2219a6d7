#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::score {

/// What a scorer may look at besides the reply. Views are valid during the call.
struct task {
  const json::value* target = nullptr;  ///< The suite's `target`, never null.
  const std::vector<chat::tool>* tools = nullptr;
  std::string_view category;                          ///< "live_multiple", or empty.
  const std::vector<std::string>* choices = nullptr;  ///< Of the item; null is none.
  bool explain = false;                               ///< Whether verdict::steps are wanted.
};

/// A step on the way from a reply to its verdict, for a person.
struct scoring_step {
  std::string_view name;  ///< "reasoning", "extract", "normalise", "decode", "compare"; in static storage.
  std::string text;       ///< What it left.
};

/// What the values of a metric are, and what they come to.
enum class figure : std::uint8_t {
  mean,           ///< The mean of values from 0 to 1; more is better, and a missing item counts 0.
  loss,           ///< The mean of values from 0 to 2; less is better, and a missing item counts 2.
  perplexity,     ///< exp(-sum of logprobs / sum of weights); less is better, and a missing item has none.
  bits_per_unit,  ///< The logarithm of that to the base 2.
};

/// A metric that is told beside a scorer's own.
struct further_metric {
  std::string_view name;
  figure comes_to = figure::mean;
};

/// A value beside a verdict's own.
struct further_value {
  std::string_view metric;  ///< The name of one of scorer::further_metrics().
  double value = 0;         ///< As its figure wants it; finite.
  double weight = 1;        ///< Of a logprob: the words or bytes that it is of.
};

/// The outcome of scoring one reply. `unscored` means that the checker failed, not the model: what the
/// model did itself (no parsable answer, cut by length, a refusal) is scored, and wrong.
struct verdict {
  bool scored = false;
  double value = 0;       ///< 0 … 1; only when scored.
  std::string extracted;  ///< What was compared, for a person.
  std::string reason;     ///< Why it is wrong, or why it is unscored; empty when right.
  /// Each of scorer::further_metrics(), or none; only when scored, or where they are known without a score.
  std::vector<further_value> further = {};
  bool no_answer = false;  ///< Nothing in the reply could be taken for an answer; only when scored.
  std::vector<scoring_step> steps = {};  ///< Where the task wants them.
};

/// A pure function of (task, reply); may be called from several threads at once.
class scorer {
 public:
  virtual ~scorer() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The name under which the mean of the values is reported, e.g. "accuracy".
  [[nodiscard]] virtual std::string_view metric() const noexcept = 0;
  /// What else is reported of the same replies, beside the score and no part of it. No scorer's metric() has
  /// such a name: the two would be one line of a summary.
  [[nodiscard]] virtual std::vector<further_metric> further_metrics() const { return {}; }
  /// Checks an item's target before anything is sent. Errors: bad_suite, saying what the target lacks.
  [[nodiscard]] virtual result<void> check(const task& what) const = 0;
  [[nodiscard]] virtual verdict score(const task& what, const chat::reply& answer) const = 0;
};

/// `named`: a name, or a JSON object with "name" and the scorer's options. Errors: not_found, naming the
/// choices; invalid_argument for options that the scorer does not have or cannot use.
///
/// Those that read text leave reasoning in `<think>` aside first; a reply that ends in it is wrong.
///   exact    target: a string, or a list of accepted strings. The text of the reply must be one of them,
///            white space at the ends aside. Metric exact_match.
///   includes target: the same. The text must hold one of them. Option ignore_case (false). Metric includes.
///   regex    target: the same, or true or false. What `pattern` finds must be one of them, white space at
///            the ends aside; or whether it finds anything. Options: pattern; group (1, or 0 where the
///            pattern has none); take "first" or "last" (last); ignore_case (false). Metric exact_match.
///   numeric  target: a number, or a string that is one. The last number of the reply's text must equal it
///            within 1e-9 of the larger; currency signs, % and thousands separators are ignored. Metric
///            numeric_match.
///   letter   target: a letter, or several ("A, C" or a list), all of which must be chosen. The choice is
///            what follows the last "answer"; else the last letter that stands alone. Option letters
///            ("ABCDEFGHIJ"). Metric accuracy.
///   f1       target: a string, or a list of which the best counts. Overlap of words as SQuAD measures it.
///            Metric f1, and beside it quasi_exact_match of the same words.
///   math     target: a LaTeX expression, or a list of accepted ones. The last \boxed{…}, else what follows
///            the last "answer is", else the last $…$, else the text must be equivalent. Metric math_match.
///   json     target: any JSON. The JSON text of the reply, which may stand in a fenced block, must be equal,
///            members in any order, 1 and 1.0 the same. Metric json_match.
///   json_schema  target: a JSON schema (draft 7) without patterns, formats and endless "$ref". The reply's
///            JSON, found as by json, must be valid. Metric json_valid.
///   bfcl     target: BFCL's ground truth; the tools must be in the suite's own form. The reply's native
///            calls are checked, or those decoded from its text where it has none, with the verdicts of
///            BFCL's own checker for Python, Java and JavaScript, by the item's category. Metric accuracy.
///   bfcl_strict  The same with the oddities of that checker mended.
///   choice   target: one of the item's choices, as its text or its place from 0. The likeliest must be
///            it, of equals the first. Metric acc, and beside it acc_norm: the likeliest for its number of
///            characters.
///   brier    The same, and beside it brier_score: the squared distances of the choices' likelihoods, made to
///            sum to 1, from those of an answer that is sure and right, summed; 0 to 2, less is better.
///   perplexity  target: a text, which is not generated: its likelihood behind the prompt is measured. Metric
///            acc, whether each of its tokens is the likeliest, and beside it perplexity (for a target),
///            word_perplexity, byte_perplexity and bits_per_byte.
///   none     without a target: the suite only asks, and every reply is unscored.
[[nodiscard]] result<std::shared_ptr<const scorer>> find_scorer(std::string_view named);
[[nodiscard]] std::vector<std::string_view> scorer_names();

}  // namespace evalcore::score
