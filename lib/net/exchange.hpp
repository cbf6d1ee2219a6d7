#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/net/http_client.hpp>

#include "net/connection.hpp"
#include "net/exchange_machine.hpp"
#include "net/reply_parser.hpp"

namespace evalcore::net {

/// One request and its answer, with what they hold while they are under way.
struct exchange final : reply_events {
  exchange(http_client::exchange_id number, const deadlines& bounds, std::string peer,
           std::shared_ptr<http_sink> sink, instant now)
      : id(number), machine(bounds, std::move(peer), now), to(std::move(sink)), read_at(now) {}

  void on_head(const http_head& head) override {
    if (!machine.ended()) to->on_head(head);
  }
  void on_body(std::string_view piece) override {
    if (!machine.ended()) to->on_body(piece, read_at);
  }

  const http_client::exchange_id id;
  exchange_machine machine;
  std::shared_ptr<http_sink> to;
  bool timed = false;  ///< As http_request says.
  std::string text;    ///< The request's bytes, kept whole for a resend.
  std::size_t written = 0;
  std::shared_ptr<connection> link;
  std::optional<reply_parser> parser;
  instant read_at;  ///< When the last bytes came; never before those of an earlier read, nor before the
                    ///< request was made.
};

}  // namespace evalcore::net
