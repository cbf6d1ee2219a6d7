#pragma once

#include <boost/asio/ssl/stream.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/dialer.hpp"
#include "net/plain_reads.hpp"
#include "net/tls.hpp"

namespace evalcore::net {

struct exchange;

/// One connection to the origin. The only place that knows what carries the bytes: a socket, the loop's
/// plain_reads once it listens without TLS, or a TLS stream around the socket once secure() was called.
class connection {
 public:
  using error_code = boost::system::error_code;

  /// `plain` may be null.
  connection(boost::asio::io_context& context, plain_reads* plain)
      : context_(context), plain_(plain), socket_(context) {}
  ~connection() { close(); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Null between two. They hold each other until the exchange lets go.
  std::shared_ptr<exchange> carries;

  /// Connects to the first of the addresses that answers. Here and below, `done` must hold the connection.
  template <class Done>
  void connect(const dialer::endpoints& to, Done done) {
    dialer_ = std::make_shared<dialer>(context_, to,
                                       [this, done](const error_code& why, dialer::socket winner) mutable {
                                         const auto finished = std::exchange(dialer_, nullptr);
                                         if (!why) take(std::move(winner));
                                         done(why);
                                       });
    dialer_->begin();
  }

  /// TLS from here on. Takes the session over.
  template <class Done>
  void secure(ssl_st* session, Done done) {
    tls_.emplace(socket_, session);
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::move(done));
  }

  /// Null without TLS.
  [[nodiscard]] ssl_st* session() { return tls_ ? tls_->native_handle() : nullptr; }
  /// Where it leads, while it is connected.
  [[nodiscard]] dialer::tcp::endpoint peer() const {
    error_code ignored;
    return socket_.remote_endpoint(ignored);
  }

  /// What can be written without waiting; 0 also when it cannot be known.
  [[nodiscard]] std::size_t write_now(std::string_view bytes) {
    if (tls_) return 0;
    if (handed_over()) return plain_->write(native_, bytes);
    error_code why;
    return socket_.write_some(boost::asio::buffer(bytes.data(), bytes.size()), why);
  }

  template <class Done>
  void write_some(std::string_view bytes, Done done) {
    if (handed_over()) {
      plain_->when_writable(native_, [this, bytes, done = std::move(done)]() mutable {
        done(error_code(), plain_->write(native_, bytes));
      });
      return;
    }
    const auto piece = boost::asio::buffer(bytes.data(), bytes.size());
    if (tls_) return tls_->async_write_some(piece, std::move(done));
    socket_.async_write_some(piece, std::move(done));
  }

  /// `heard(error, bytes, came)` for all that arrives until the connection breaks or is closed; the bytes are
  /// valid during the call. Goes on between exchanges: there too a read is what tells that a server hung up.
  template <class Heard>
  void listen(Heard heard) {
    listens_ = reading_ = true;
    if (!tls_ && plain_ != nullptr) return hand_over(std::move(heard));
    buffer_.resize(buffer_bytes);
    auto taken = [this, heard = std::move(heard)](const error_code& why, std::size_t n) mutable {
      tell(heard, why, {buffer_.data(), n}, std::chrono::steady_clock::now(), n < buffer_.size());
      if (!why && socket_.is_open()) listen(std::move(heard));
    };
    if (tls_) return tls_->async_read_some(boost::asio::buffer(buffer_), std::move(taken));
    socket_.async_read_some(boost::asio::buffer(buffer_), std::move(taken));
  }
  [[nodiscard]] bool listens() const noexcept { return listens_; }
  /// From here on `came` is when the bytes arrived at this machine, where the system tells: on Linux, without
  /// TLS. Once it listens.
  void time_arrivals() {
    if (handed_over()) plain_->time_arrivals(native_);
  }

  /// Between two exchanges: whether it may carry another, as nothing has come, not even the end.
  [[nodiscard]] bool fit() {
    // What `heard` was just called with was all there was.
    if (!tls_ && !reading_ && read_all_) return handed_over() || socket_.is_open();
    if (handed_over()) return plain_->silent(native_);
    char byte = 0;
    error_code why;
    socket_.receive(boost::asio::buffer(&byte, 1), boost::asio::socket_base::message_peek, why);
    return why == boost::asio::error::would_block && (!tls_ || nothing_pending(tls_->native_handle()));
  }

  /// Without TLS's goodbye: it would have to be waited for, and answers prove their end by their framing.
  void close() {
    if (dialer_) dialer_->stop();
    if (handed_over()) return plain_->close(std::exchange(native_, none));
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void take(dialer::socket winner) {
    socket_ = std::move(winner);
    // A request goes out in one piece: waiting to fill a segment would only delay its end.
    error_code ignored;
    socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);  // For write_now() and fit().
  }

  [[nodiscard]] bool handed_over() const noexcept { return native_ != none; }

  template <class Heard>
  void hand_over(Heard heard) {
    native_ = socket_.release();
    plain_->add(native_,
                [this, heard = std::move(heard)](const error_code& why, std::string_view bytes, instant came,
                                                 bool all) mutable { tell(heard, why, bytes, came, all); });
  }

  template <class Heard>
  void tell(Heard& heard, const error_code& why, std::string_view bytes, instant came, bool all) {
    reading_ = false;
    read_all_ = all;
    heard(why, bytes, came);
    reading_ = true;
  }

  static constexpr int none = -1;
  static constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;

  boost::asio::io_context& context_;
  plain_reads* plain_;
  int native_ = none;  ///< Once it is handed over to plain_.
  dialer::socket socket_;
  std::optional<boost::asio::ssl::stream<dialer::socket&>> tls_;
  std::shared_ptr<dialer> dialer_;
  bool listens_ = false;
  bool reading_ = false;   ///< False while what was read is heard.
  bool read_all_ = false;  ///< What was read last was all there was.
  std::vector<char> buffer_;
};

}  // namespace evalcore::net
