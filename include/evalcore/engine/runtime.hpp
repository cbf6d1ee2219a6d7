#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/engine/answer.hpp>
#include <evalcore/engine/options.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/request.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// The answer to one request, as it comes. One thread at a time; may outlive its runtime. Destroying it
/// cancels the request.
class stream {
 public:
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// What came since the last call.
  struct reading {
    std::vector<record> records;
    std::optional<result<answer>> end;  ///< Once, and nothing after it.
  };
  /// Waits at most `timeout` until there is something. False: nothing came, or the end was read already. Who
  /// reads slower than the engine writes loses the request (options::output_queue_size).
  [[nodiscard]] bool read(reading& into, duration timeout = {});

  /// Any thread. The end follows at once; what was not read yet is not read any more. Idempotent.
  void cancel();

 private:
  friend class runtime;
  struct state;
  explicit stream(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

/// How a request is watched over.
struct submission {
  std::stop_token stop;  ///< Cancels the request.
  /// Called when there is something to read, with no lock held: on the engine's thread, or on the one that
  /// submits, cancels or closes. It must not throw, reads nothing itself (it wakes who does), and owns what
  /// it touches: a call may be under way when the stream is destroyed.
  std::function<void()> wake;
};

/// An engine, and what was found out about it when it was loaded.
struct loaded_engine {
  std::unique_ptr<step_engine> engine;
  /// The widest tensor batch that changes no answer; 0: rows must not even be open side by side. Absent: any
  /// if the engine says that it is exact (traits::exact); else check_parity() finds out, and whether prefixes
  /// are kept.
  std::optional<std::uint32_t> safe_width;
  bool keep_prefixes = true;  ///< Whether an answer is the same after a restored prefix.
  /// A folder where verdicts of check_parity() are kept by what they depend on, so that an engine is compared
  /// once on a machine; made where it is missing. None is kept of an engine without traits::identity. Empty:
  /// compare at each load.
  std::string verdict_folder;
};

/// Runs requests on one engine, on a thread of its own, which makes, drives and destroys the engine. No call
/// here but control(), clear_prefixes() and close() waits for it. Any thread may call.
class runtime {
 public:
  using loader = std::function<result<loaded_engine>()>;
  /// Called once, on the engine's thread; null: the runtime was closed before its turn.
  using task = std::function<void(step_engine*)>;

  /// Waits until `load` has made the engine, and it is checked where loaded_engine says so. Errors: those of
  /// check(options), of `load` and of check_parity().
  [[nodiscard]] static result<std::unique_ptr<runtime>> start(loader load, const options& how = {},
                                                              const prefix_cache_options& prefixes = {});
  /// Closes, and waits for the engine as long as it takes.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] const traits& about() const noexcept;
  /// As the requests are run: what start() was given, narrowed to what the engine can do.
  [[nodiscard]] const options& how() const noexcept;
  /// What is done without so that no answer depends on another: note_of(). Empty: nothing.
  [[nodiscard]] const std::string& note() const noexcept;
  /// Whether the engine can keep prefixes, and an answer from a restored one is the same.
  [[nodiscard]] bool keeps_prefixes() const noexcept;

  /// Errors: a refusal (refusal.hpp), before anything is computed.
  [[nodiscard]] result<std::unique_ptr<stream>> submit(request what, submission how = {});

  /// Has `what` run between requests, after all that was submitted before. Errors: runtime_closed,
  /// queue_full; then it is not called.
  [[nodiscard]] result<void> post(task what);
  /// Has `what` run before the next step, whatever runs: it waits for no row to end, and may only do what
  /// concerns none (render, tokenize, about). Errors: as for post().
  [[nodiscard]] result<void> post_aside(task what);
  /// As post(), and waits for its outcome. Within a task it runs at once. Errors besides: cancelled, when the
  /// runtime was closed before its turn; internal with the words of what it threw.
  [[nodiscard]] result<void> control(const std::function<result<void>(step_engine&)>& what);
  /// Lets go of all kept prefixes, in its turn, and says how many there were. Errors as for control().
  [[nodiscard]] result<std::size_t> clear_prefixes();

  [[nodiscard]] statistics stats() const;
  [[nodiscard]] prefix_cache_stats prefix_stats() const;

  /// Ends all requests as cancelled, interrupts the engine and waits until it is destroyed. Errors:
  /// backend_error when it takes longer; the engine stays owned, and another call waits again. busy within a
  /// task.
  [[nodiscard]] result<void> close(duration patience = std::chrono::seconds(10));

 private:
  struct core;
  explicit runtime(std::shared_ptr<core> made);
  friend struct stream::state;
  std::shared_ptr<core> core_;
};

}  // namespace evalcore::engine
