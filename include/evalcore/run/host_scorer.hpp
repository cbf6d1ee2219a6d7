#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// A reply that the host of a run is to score.
struct score_question {
  std::uint64_t ticket = 0;  ///< For the answer.
  std::string item_id;
  std::uint32_t epoch = 0;  ///< 1: the second answer to the item, for the noise floor.
  std::string line;         ///< The item as it stands in the suite, JSON.
  json::value target;
  chat::reply reply;
};

/// A scorer outside of the library, for one run: what it is asked goes to a function of its owner's, and the
/// answers come when they come, in any order. A verdict that is not `scored` says that the scorer failed, not
/// the model.
class host_scorer {
 public:
  using asker = std::function<void(score_question&&)>;
  using answer = std::pair<std::uint64_t, score::verdict>;

  /// `name`: of the metric; the store keeps scores under it, and gives them only to a scorer of the same
  /// name. `ask` is called on the run's thread and must not wait for the answer.
  host_scorer(std::string name, asker ask) : name_(std::move(name)), ask_(std::move(ask)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The answer to a question; of a verdict's further values none are kept. Errors: invalid_argument for a
  /// value outside of 0 to 1; not_found when nobody waits for it: it was answered, or the run is over. Any
  /// thread.
  result<void> give(std::uint64_t ticket, score::verdict what);

  // What follows is for the run, on its thread.

  /// The ticket.
  std::uint64_t ask(score_question what);
  /// What was given since.
  [[nodiscard]] std::vector<answer> take();
  /// Until something was given, the time is over or `stop` is requested.
  void wait(std::chrono::milliseconds at_most, const std::stop_token& stop);
  /// Called with each answer, on the thread that gives it; null: nothing is.
  void when_given(std::function<void()> wake);
  /// Nobody waits for any answer any more.
  void close();

 private:
  std::string name_;
  asker ask_;
  std::uint64_t last_ticket_ = 0;
  std::mutex mutex_;  ///< Of what follows.
  std::condition_variable_any changed_;
  std::set<std::uint64_t> open_;
  std::vector<answer> given_;
  std::function<void()> wake_;
};

}  // namespace evalcore::run
