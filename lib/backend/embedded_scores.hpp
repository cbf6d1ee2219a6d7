#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/engine/answer.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::backend {

/// Continuations of the same tokens, which an engine computes once for all of them.
struct branches {
  using done = std::function<void(result<chat::loglikelihood>)>;
  struct waiting_one {
    std::uint64_t tokens = 0;  ///< Of the continuation.
    done then;
  };

  std::optional<error> failure = {};  ///< It cannot be scored; the rest is empty but for who waits.
  std::vector<engine::token> context = {};
  std::vector<std::vector<engine::token>> continuations = {};
  std::vector<waiting_one> waiting = {};

  /// Tells all who wait.
  void answer(const result<engine::answer>& outcome);
};

/// Requests for the likelihoods of several continuations of one context, collected before they are cut into
/// tokens.
class scoring {
 public:
  explicit scoring(chat::loglikelihood_request first) : of_(std::move(first)) {}

  /// Whether it has the same context and hints, so that add() may take its continuation.
  [[nodiscard]] bool takes(const chat::loglikelihood_request& other) const;
  void add(chat::prompt continuation, branches::done then);

  /// What was collected, by the tokens of the context, as lm-eval cuts text: context and continuation
  /// together, the continuation beginning behind as many tokens as the context has without the blanks at its
  /// end.
  [[nodiscard]] std::vector<branches> take(engine::step_engine& engine);

  /// Who waits for what was collected; then nothing is.
  [[nodiscard]] std::vector<branches::done> give_up();

  [[nodiscard]] const chat::cache_hints& hints() const noexcept { return of_.hints; }

 private:
  struct parts {
    std::vector<engine::token> context;
    std::vector<engine::token> continuation;
  };
  struct waiting_one {
    chat::prompt continuation;
    branches::done then;
  };
  [[nodiscard]] result<parts> cut(const chat::prompt& continuation, engine::step_engine& engine) const;

  chat::loglikelihood_request of_;
  std::vector<waiting_one> waiting_;
};

}  // namespace evalcore::backend
