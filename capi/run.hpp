#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <evalcore/c/run.h>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/runner.hpp>
#include <evalcore/run/suite.hpp>

#include "backend.hpp"
#include "event_queue.hpp"
#include "handle.hpp"
#include "run_options.hpp"

/// A run on its own thread, and the events that tell of it.
struct evc_run : evalcore::capi::handle<evc_run>, evalcore::capi::of_one_process {
 public:
  static constexpr const char* word = "evc_run";

  evc_run(std::shared_ptr<const evalcore::run::suite> suite,
          std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints,
          const evc_run_options& options);

  void cancel() { thread_.request_stop(); }
  void set_concurrency(std::uint32_t requests);
  /// Errors: as host_scorer::give().
  [[nodiscard]] evalcore::result<void> score(std::uint64_t ticket, evalcore::score::verdict what);

  evalcore::capi::event_queue events;

 private:
  void work(const std::stop_token& stop) noexcept;
  /// The last event.
  [[nodiscard]] evalcore::capi::pool_event run(const std::stop_token& stop);
  [[nodiscard]] evalcore::result<evalcore::run::run_options> prepared(const std::stop_token& stop);
  [[nodiscard]] evalcore::run::observer watch();
  void ask_score(evalcore::run::score_question&& what);

  std::shared_ptr<const evalcore::run::suite> suite_;
  std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints_;
  evc_run_options options_;
  std::shared_ptr<evalcore::run::host_scorer> scorer_;  ///< Null: the host does not score.
  std::mutex mutex_;
  evalcore::pool::pool* pool_ = nullptr;  ///< While requests are sent.
  std::jthread thread_;                   ///< The last: it uses the others.
};
