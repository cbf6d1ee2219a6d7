#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::engine {

using token = std::int32_t;

/// One open sequence of an engine. Ids are never used again.
using row_id = std::uint64_t;

/// What an engine is and can do. Constant from its load on.
struct traits {
  std::string name;   ///< The runtime: "llama.cpp", "simulated", or what a table calls itself.
  std::string model;  ///< As the model names itself.
  /// What an answer may depend on (the model file's hash, the runtime's version, the template's hash, …).
  std::map<std::string, std::string> identity;
  std::uint32_t max_rows = 1;        ///< Rows that may be open at once.
  std::uint32_t context_tokens = 0;  ///< Of one row, prompt and answer together.
  /// A prefix is cut, kept and restored only at multiples of this; 1: anywhere. Where it is above 1, what a
  /// row computes depends neither on where its prefix came from nor, in a width that check_parity() found
  /// safe, on the rows beside it.
  std::uint32_t prefix_grid = 1;
  /// An answer never depends on the rows beside it nor on what was restored: check_parity() is not needed.
  bool exact = false;
  bool per_row_sampling = false;  ///< Rows that sample may share a step with others.
  bool snapshots = false;         ///< take_snapshot() works.
  bool recurrent = false;         ///< A snapshot costs much even of a short prefix: few are kept.
  bool scoring = false;           ///< Rows may have continuations.
  bool media = false;             ///< Rows may have images.
};

/// How the next token is chosen. Temperature 0 is greedy: the likeliest token, the lowest id among equals.
struct sampling {
  double temperature = 0;   ///< 0 or more.
  double top_p = 1;         ///< Above 0, at most 1.
  std::uint32_t top_k = 0;  ///< 0: all.
  double min_p = 0;
  std::optional<std::uint64_t> seed;  ///< Absent: the engine draws one.
  double repetition_penalty = 1;
  double presence_penalty = 0;
  double frequency_penalty = 0;
  std::vector<std::pair<token, double>> logit_bias;
};

/// The state of a row after its first tokens, kept apart from the row. Owned by whoever asked for it;
/// destroyed on the engine's thread and before the engine.
class snapshot {
 public:
  virtual ~snapshot() = default;
  /// What it costs to keep.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

/// An image of a prompt.
struct image {
  std::uint32_t index = 0;  ///< Which of the prompt's places for images it fills, from 0.
  std::string bytes;        ///< The file, not empty.
};

/// A row to be opened.
struct row_request {
  std::vector<token> prompt;  ///< The whole prompt, at least one token.
  /// Holds the first `restored` tokens of `prompt`, fewer than all of them and a multiple of prefix_grid.
  /// Null: none is restored.
  std::shared_ptr<const snapshot> from;
  std::uint32_t restored = 0;
  /// Numbers of tokens after which the prefill pauses for one step, so that a snapshot can be taken there:
  /// rising, above `restored`, below prompt.size(), multiples of prefix_grid.
  std::vector<std::uint32_t> cuts;
  std::uint32_t max_tokens = 1;  ///< Of the answer, at least 1; the caller removes the row when it has them.
  sampling how;
  bool logprobs = false;           ///< Of the tokens of the answer.
  std::uint32_t top_logprobs = 0;  ///< With each token, the likeliest this many.
  /// Not empty: the row generates nothing. Each is scored as if it followed the prompt, and then the row
  /// ends.
  std::vector<std::vector<token>> continuations;
  std::vector<image> media;  ///< Only where traits::media.
};

/// How far the prefill of a row has come.
struct prefilled {
  row_id row = 0;
  std::uint32_t processed = 0;   ///< Tokens of the prompt that the row holds now, restored ones included.
  bool at_cut = false;           ///< The row stands at one of its cuts until the next step.
  std::uint32_t batch_rows = 1;  ///< Rows in the largest tensor batch of this step that the row was in.
};

struct likely {
  token id = 0;
  float logprob = 0;  ///< Natural logarithm.
};

/// One token of an answer.
struct generated {
  row_id row = 0;
  token id = 0;
  /// The bytes that it adds to the answer: maybe none, maybe half a character. Valid until the next call.
  std::string_view text;
  std::optional<float> logprob;  ///< If asked for.
  std::vector<likely> top;       ///< If asked for, the likeliest first.
  bool end = false;              ///< The model's own end: `text` is empty and the row is gone.
  std::uint32_t batch_rows = 1;  ///< As for prefilled.
};

/// One continuation of a row. The row is gone after its last.
struct scored {
  row_id row = 0;
  std::size_t continuation = 0;  ///< Index into row_request::continuations.
  double sum_logprob = 0;        ///< Natural logarithm, over the tokens of the continuation.
  bool is_greedy = false;        ///< Each of its tokens is the likeliest in its place.
  bool last = false;
};

/// A row that went wrong alone. It is gone, and the others are not concerned.
struct row_failure {
  row_id row = 0;
  error why;
};

/// What one step did. Kept by the caller and filled again, so that a step allocates nothing.
struct step_output {
  std::vector<prefilled> prefill;
  std::vector<generated> tokens;
  std::vector<scored> scores;
  std::vector<row_failure> failures;
  bool interrupted = false;  ///< interrupt() was heard: the rows stand where this output says.

  /// It tells of no work, nor why there was none.
  [[nodiscard]] bool idle() const noexcept {
    return prefill.empty() && tokens.empty() && scores.empty() && failures.empty() && !interrupted;
  }

  void clear() {
    prefill.clear();
    tokens.clear();
    scores.clear();
    failures.clear();
    interrupted = false;
  }
};

/// A prompt as the model's chat template writes it.
struct rendered {
  std::string text;           ///< With the special tokens spelled out.
  std::string template_name;  ///< Which template was used, for the reply's metadata.
  std::string warning;  ///< Why the same request may render differently another day; empty: it does not.
};

/// Bytes. Absent is unknown.
struct memory_report {
  std::optional<std::uint64_t> working_set;  ///< What the device lets one process use.
  std::optional<std::uint64_t> active;       ///< Of it, what the engine uses.
  std::optional<std::uint64_t> free_ram;     ///< Of the machine.
};

/// What a model runtime must offer. One thread makes all calls, the destructor included; about() and
/// interrupt() may come from any. An error of step() is a fault of the runtime: all rows are lost, and the
/// caller removes them.
class step_engine {
 public:
  virtual ~step_engine() = default;

  [[nodiscard]] virtual const traits& about() const = 0;

  /// Errors: unsupported where the model has no template, or its template no place for what the request has.
  [[nodiscard]] virtual result<rendered> render(const chat::request& request) = 0;
  /// The tokens of `text`. `special`: spelled-out special tokens are read as such, as render() writes them,
  /// and nothing is added; else the text is text, and the vocabulary's own beginning is put before it.
  [[nodiscard]] virtual result<std::vector<token>> tokenize(std::string_view text, bool special) = 0;

  /// Errors: invalid_argument (a field out of its range), context_overflow, unsupported, busy (no room until
  /// a row or a snapshot goes), backend_fault. After an error nothing has changed.
  [[nodiscard]] virtual result<row_id> open(row_request request) = 0;
  /// For every row that decodes one token, and for rows that prefill some of their prompt or of their
  /// continuations: at least one row moves on. `max_width`: at most so many rows in one tensor batch.
  /// Fills `out` anew.
  [[nodiscard]] virtual result<void> step(std::uint32_t max_width, step_output& out) = 0;
  /// False: the row cannot leave yet; its output counts no more, and the caller asks again after the next
  /// step. True for a row that is not there.
  [[nodiscard]] virtual bool remove(row_id row) = 0;
  /// Any thread. The step under way returns soon, in the middle of a prompt too. Where none is, the next one
  /// may do so without any work: whoever calls cannot know whether a step has just begun.
  virtual void interrupt() noexcept = 0;

  /// What a snapshot of so many tokens would cost; absent: it shows only when taken.
  [[nodiscard]] virtual std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const = 0;
  /// Of a row that the last step left at one of its cuts. Errors: unsupported, no_memory, busy.
  [[nodiscard]] virtual result<std::shared_ptr<const snapshot>> take_snapshot(row_id row) = 0;
  [[nodiscard]] virtual memory_report memory() const = 0;
};

}  // namespace evalcore::engine
