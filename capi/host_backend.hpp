#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/net/loop.hpp>

#include "event_queue.hpp"

namespace evalcore::capi {

/// What is asked of it goes to the host as events; the host's answers come back on any thread.
class host_backend final : public backend::backend {
 public:
  host_backend(net::loop& owner, ::evalcore::backend::info about);
  ~host_backend() override;

  [[nodiscard]] const ::evalcore::backend::info& about() const override { return info_; }
  [[nodiscard]] ::evalcore::backend::capabilities can() const override;
  [[nodiscard]] result<void> check(const chat::request& request) const override;
  ::evalcore::backend::ticket start(const chat::request& request,
                                    std::shared_ptr<::evalcore::backend::sink> to) override;
  void cancel(::evalcore::backend::ticket which) override;

  // Any thread.
  void tell_text(std::uint64_t ticket, std::string text);
  void end(std::uint64_t ticket, result<chat::reply> outcome);
  /// The host is gone: nothing is answered any more.
  void close();

  event_queue events;

 private:
  struct asked {
    std::shared_ptr<::evalcore::backend::sink> to;
    instant began;
    std::vector<std::string> dropped;  ///< Fields of the request that the host is not shown.
    std::optional<duration> first_token = {};
    bool cancelled = false;
  };

  /// On the loop, unless the backend is gone by then.
  void later(std::function<void(host_backend&)> what);
  void over(std::uint64_t ticket, result<chat::reply>&& outcome);
  void close_all();

  net::loop& loop_;
  ::evalcore::backend::info info_;
  std::shared_ptr<host_backend*> self_;  ///< Null from the destructor on; touched on the loop.
  std::unordered_map<std::uint64_t, asked> open_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace evalcore::capi
