#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/dial_race.hpp"

namespace evalcore::net {

/// Does what a dial_race says: connects to one of a host's addresses, the first that answers. Handlers
/// keep it alive until the race is decided or stopped.
class dialer : public std::enable_shared_from_this<dialer> {
 public:
  using tcp = boost::asio::ip::tcp;
  /// Not tcp::socket: its executor may be any, which costs on every read and write.
  using socket = boost::asio::basic_stream_socket<tcp, boost::asio::io_context::executor_type>;
  using error_code = boost::system::error_code;
  using endpoints = std::vector<tcp::endpoint>;
  /// A connected socket, or the error of the attempt that failed last.
  using handler = std::function<void(const error_code&, socket)>;

  dialer(boost::asio::io_context& context, endpoints to, handler done)
      : context_(context), to_(std::move(to)), done_(std::move(done)), race_(to_.size()), timer_(context) {}

  void begin() { perform(race_.begin(now())); }

  /// Ends the race; nothing is reported any more.
  void stop() {
    done_ = nullptr;
    timer_.cancel();
    for (auto& one : sockets_) {
      error_code ignored;
      one->close(ignored);
    }
  }

 private:
  static instant now() { return std::chrono::steady_clock::now(); }

  void perform(dial_race::step step) {
    if (step.what == dial_race::action::lost) {
      last_failure_ = last_failure_ ? last_failure_ : boost::asio::error::host_not_found;
      return decide(socket(context_));
    }
    if (step.what == dial_race::action::dial) dial(to_[step.index]);
    if (const auto at = race_.deadline()) {
      timer_.expires_at(*at);
      timer_.async_wait([self = shared_from_this()](const error_code& why) {
        if (!why && self->done_) self->perform(self->race_.expired(now()));
      });
    }
  }

  void dial(const tcp::endpoint& to) {
    const auto one = std::make_shared<socket>(context_);
    sockets_.push_back(one);
    one->async_connect(to, [self = shared_from_this(), one](const error_code& why) {
      if (!self->done_) return;
      self->last_failure_ = why;
      if (why) return self->perform(self->race_.failed(now()));
      self->decide(std::move(*one));
    });
  }

  void decide(socket winner) {
    const handler done = std::exchange(done_, nullptr);
    stop();
    done(last_failure_, std::move(winner));
  }

  boost::asio::io_context& context_;
  endpoints to_;
  handler done_;
  dial_race race_;
  boost::asio::steady_timer timer_;
  std::vector<std::shared_ptr<socket>> sockets_;
  error_code last_failure_;
};

}  // namespace evalcore::net
