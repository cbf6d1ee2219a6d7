#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <evalcore/c/pool.h>
#include <evalcore/pool/pool.hpp>

#include "backend.hpp"
#include "event_queue.hpp"
#include "handle.hpp"
#include "pool_options.hpp"
#include "request.hpp"
#include "submissions.hpp"

/// Between the host's calls and the pool. All events are made on the loop, so that their order is that in
/// which things happened there.
struct evc_pool : evalcore::capi::handle<evc_pool>, evalcore::capi::of_one_process {
 public:
  static constexpr const char* word = "evc_pool";

  evc_pool(std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints,
           const evc_pool_options& how);

  evalcore::result<std::uint64_t> submit(const evc_request& request, std::uint64_t tag);
  void cancel(std::uint64_t ticket);
  void set_concurrency(std::uint32_t requests) { requests_.set_max_in_flight(requests); }
  void shut_down(bool cancel);
  evalcore::capi::event_queue::outcome take(std::int32_t timeout_ms, evalcore::capi::pool_event& into);
  [[nodiscard]] std::string figures() const;

  evalcore::capi::event_queue events;

 private:
  void happened(evalcore::pool::event&& what);
  void ended(evalcore::pool::event&& what);
  void drained(evalcore::pool::event&& what);
  /// Its END, with why there is no answer.
  void refuse(evalcore::pool::item_id ticket, const evalcore::error& why);

  std::vector<std::shared_ptr<evalcore::capi::shared_backend>> endpoints_;
  evalcore::net::loop& loop_;
  std::uint32_t max_outstanding_;
  std::atomic<std::uint32_t> outstanding_ = 0;
  evalcore::capi::submissions accepted_;
  evalcore::pool::pool requests_;  ///< The last: it touches the others until it is gone.
};
