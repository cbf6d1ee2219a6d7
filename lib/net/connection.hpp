#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>

namespace evalcore::net {

/// One socket to the origin. The only place that knows what carries the bytes: a TLS stream belongs around
/// `socket_` here, its handshake after connect().
class connection {
 public:
  using error_code = boost::system::error_code;
  using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  explicit connection(boost::asio::io_context& context) : socket_(context), idle_timer_(context) {}

  /// Tries the endpoints in order. Here and below, `done` must hold the connection.
  template <class Done>
  void connect(const endpoints& to, Done done) {
    boost::asio::async_connect(socket_, to, [this, done](const error_code& why, const auto&) mutable {
      if (!why) {
        // A request goes out in one piece: waiting to fill a segment would only delay its end.
        error_code ignored;
        socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
      }
      done(why);
    });
  }

  template <class Done>
  void write_some(std::string_view bytes, Done done) {
    socket_.async_write_some(boost::asio::buffer(bytes.data(), bytes.size()), std::move(done));
  }

  /// `done(error, bytes)`; the bytes are valid until the next read.
  template <class Done>
  void read_some(Done done) {
    socket_.async_read_some(boost::asio::buffer(buffer_),
                            [this, done](const error_code& why, std::size_t n) mutable {
                              done(why, std::string_view(buffer_.data(), n));
                            });
  }

  /// Calls `unfit` once if, before leave_idle(), the server closes, sends something, or `life` is over.
  template <class Unfit>
  void enter_idle(duration life, Unfit unfit) {
    const std::uint64_t turn = ++turn_;
    auto ended = [this, turn, unfit](const error_code& why) mutable {
      if (!why && turn == turn_) unfit();
    };
    socket_.async_wait(boost::asio::ip::tcp::socket::wait_read, ended);
    idle_timer_.expires_after(life);
    idle_timer_.async_wait(ended);
  }

  /// Whether it may carry another request: nothing has come, not even the end.
  [[nodiscard]] bool leave_idle() {
    ++turn_;
    idle_timer_.cancel();
    char byte = 0;
    error_code why;
    socket_.non_blocking(true, why);
    socket_.receive(boost::asio::buffer(&byte, 1), boost::asio::socket_base::message_peek, why);
    return why == boost::asio::error::would_block;
  }

  void close() {
    ++turn_;
    idle_timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer idle_timer_;
  std::uint64_t turn_ = 0;  ///< Tells a late word about an earlier idle time from one about this.
  std::array<char, std::size_t{16} * 1024> buffer_;
};

}  // namespace evalcore::net
