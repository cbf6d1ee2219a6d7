#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <evalcore/c/episodes.h>
#include <evalcore/run/episodes.hpp>
#include <evalcore/run/store.hpp>

#include "backend.hpp"
#include "event_queue.hpp"
#include "handle.hpp"
#include "request.hpp"

/// Episodes, and a thread that takes their events as they come, so that replies are kept however slowly the
/// host reads.
struct evc_episodes : evalcore::capi::handle<evc_episodes>, evalcore::capi::of_one_process {
 public:
  static constexpr const char* word = "evc_episodes";

  [[nodiscard]] static evalcore::result<std::unique_ptr<evc_episodes>> open(
      std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints, const std::string& store,
      const evalcore::run::episode_options& how);
  ~evc_episodes();

  evalcore::result<std::uint64_t> begin(const std::string& id, std::uint32_t epoch, const evc_request& first,
                                        std::uint64_t tag);
  /// `turns`: the messages that follow, or the whole request.
  template <class Turns>
  evalcore::result<void> next(std::uint64_t episode, Turns turns) {
    auto done = episodes_->next(episode, std::move(turns));
    episodes_->wake();  // What the store has of it can be told at once.
    return done;
  }
  evalcore::result<void> add_cost(std::uint64_t episode, double cost) {
    return episodes_->add_cost(episode, cost);
  }
  evalcore::result<void> end(std::uint64_t episode, const std::string& outcome);
  evalcore::result<void> cancel(std::uint64_t episode);
  evalcore::result<std::string> finish();
  [[nodiscard]] std::uint64_t running() const;
  evalcore::capi::event_queue::outcome take(std::int32_t timeout_ms, evalcore::capi::pool_event& into);

  evalcore::capi::event_queue events;

 private:
  evc_episodes(std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints,
               evalcore::run::store into)
      : endpoints_(std::move(endpoints)), store_(std::move(into)) {}

  void take_events(const std::stop_token& stop) noexcept;
  void pass_on(evalcore::run::episode_event&& what);
  void stop_taking();

  std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints_;
  evalcore::run::store store_;
  std::unique_ptr<evalcore::run::episodes> episodes_;
  struct known {
    std::uint64_t tag;
    bool finished = false;  ///< Its last event waits to be taken.
  };

  mutable std::mutex mutex_;                       ///< Of what follows.
  std::unordered_map<std::uint64_t, known> tags_;  ///< By episode, until the host knows that it is over.
  std::jthread taking_;                            ///< The last: it uses the others.
};
