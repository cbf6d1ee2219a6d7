#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::net {

/// Decides what one HTTP exchange does next: which deadline runs, whether a dead connection is worth one
/// resend, how the exchange ends, whether its connection is kept. No socket, clock or thread inside.
///
/// The owner calls begin() once, does what each action says, reports what happened, and calls expired()
/// no later than deadline(). After `end` further reports are ignored.
class exchange_machine {
 public:
  enum class action : std::uint8_t {
    wait,     ///< For the I/O under way, or the deadline.
    connect,  ///< Close the connection in use, if any; open a new one.
    send,     ///< Write the request from its first byte, and read.
    end,      ///< outcome() is set. Keep the connection if keep_for() says so, else close it.
  };

  /// `peer` is host:port, for messages. The attempt's clock starts at `now`.
  exchange_machine(const deadlines& bounds, std::string peer, instant now);

  /// `kept`: a kept-alive connection is at hand.
  action begin(bool kept, instant now);
  action connected(instant now);
  /// Some of the request was written, or with `all` the rest of it.
  void written(bool all, instant now);
  /// Bytes of an answer arrived.
  void received(instant now);
  /// The connection or what it delivered is unusable. A stage of `none` becomes that of the exchange.
  action failed(error why, instant now);
  /// The answer is whole. `reusable`: its framing leaves the connection at a clean start.
  action completed(bool reusable, const http_head& head);
  action cancel();
  /// The client is going away.
  action close();
  action expired(instant now);

  /// The earliest deadline that runs; empty when none does.
  [[nodiscard]] std::optional<instant> deadline() const;
  [[nodiscard]] bool ended() const noexcept { return phase_ == phase::ended; }
  /// After `end`.
  [[nodiscard]] const result<void>& outcome() const noexcept { return outcome_; }
  /// After `end`: how long the connection may wait for another request; empty: close it.
  [[nodiscard]] std::optional<duration> keep_for() const noexcept { return keep_for_; }

 private:
  enum class phase : std::uint8_t { connecting, sending, waiting, receiving, ended };

  void enter(phase next, instant now);
  action end(result<void> outcome);
  [[nodiscard]] duration phase_bound() const;
  [[nodiscard]] error timeout_of_phase() const;
  [[nodiscard]] stage stage_of_phase() const;

  deadlines bounds_;
  std::string peer_;
  instant started_;
  instant phase_since_;  ///< Or since its last progress.
  phase phase_ = phase::connecting;
  bool kept_ = false;  ///< The connection in use carried an exchange before.
  bool request_written_ = false;
  result<void> outcome_;
  std::optional<duration> keep_for_;
};

}  // namespace evalcore::net
