#include <evalcore/net/http_client.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/connection.hpp"
#include "net/exchange.hpp"
#include "net/exchange_machine.hpp"
#include "net/loop_impl.hpp"
#include "net/reply_parser.hpp"
#include "net/request_text.hpp"
#include "net/tls.hpp"

namespace evalcore::net {
namespace {

using boost::asio::ip::tcp;
using error_code = boost::system::error_code;
using action = exchange_machine::action;

instant clock_now() { return std::chrono::steady_clock::now(); }

/// "connection refused": the system's words, to stand in the middle of a sentence.
std::string words_of(const error_code& why) {
  std::string text = why.message();
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

/// A kept connection that waits for its next exchange.
struct idle_connection {
  std::shared_ptr<connection> link;
  instant until;
};

bool could_not_connect(const result<void>& outcome) {
  return !outcome && outcome.error().at == stage::connect && retryable(outcome.error().code);
}

dialer::endpoints in_dial_order(const tcp::resolver::results_type& found) {
  dialer::endpoints listed;
  std::vector<bool> version_six;
  for (const auto& entry : found) {
    listed.push_back(entry.endpoint());
    version_six.push_back(entry.endpoint().address().is_v6());
  }
  dialer::endpoints ordered;
  for (const auto index : dial_order(version_six)) ordered.push_back(listed[index]);
  return ordered;
}

using exchange_ptr = std::shared_ptr<exchange>;
using connection_ptr = std::shared_ptr<connection>;

}  // namespace

/// A handler holds this state, its exchange and its connection, and does nothing once the exchange has
/// ended or has moved to another connection.
struct http_client::impl : std::enable_shared_from_this<impl> {
  impl(loop& owner, url server, const http_limits& limits, const tls_options& how)
      : context(owner.native().context),
        plain(owner.native().plain.get()),
        origin(std::move(server)),
        peer(origin.host_and_port()),
        common_headers(headers_of(origin)),
        bounds(limits),
        resolver(context),
        timer(context) {
    error_code not_numeric;
    const auto address = boost::asio::ip::make_address(origin.host, not_numeric);
    numeric_host = !not_numeric;
    if (numeric_host) addresses.emplace_back(address, origin.port);
    if (origin.tls) tls = tls_client::create(how, origin);
  }

  boost::asio::io_context& context;
  plain_reads* const plain;
  const url origin;
  const std::string peer;
  const std::string common_headers;
  const http_limits bounds;
  tcp::resolver resolver;
  std::optional<result<tls_client>> tls;  ///< For an https origin.
  bool numeric_host = false;
  dialer::endpoints addresses;  ///< Empty until resolved, and again once none could be connected to.
  std::vector<exchange_ptr> waiting_for_addresses;
  std::map<exchange_id, exchange_ptr> open;  ///< Until the sink has heard the end.
  std::vector<idle_connection> idle;         ///< The most recently used last.
  std::vector<connection_ptr> to_write;      ///< Whose exchanges have not been written to yet.
  boost::asio::steady_timer timer;           ///< One for all deadlines; see wake_at().
  std::optional<instant> timer_set_to;
  exchange_id next = 1;

  exchange_id start(http_request&& request, std::shared_ptr<http_sink> sink) {
    const auto now = clock_now();
    const auto one = std::make_shared<exchange>(next++, request.deadlines, peer, std::move(sink), now);
    open.emplace_hint(open.end(), one->id, one);
    one->timed = request.time_arrivals;
    auto text =
        tls && !*tls ? result<std::string>(tls->error()) : request_text(common_headers, std::move(request));
    if (text) {
      one->text = *std::move(text);
      if (auto link = take_idle()) attach(one, std::move(link));
      perform(one, one->machine.begin(one->link != nullptr, now));
    } else {
      boost::asio::post(context, [self = shared_from_this(), one, why = std::move(text).error()] {
        self->give_up(one, why);
      });
    }
    return one->id;
  }

  void cancel(exchange_id id) {
    const auto found = open.find(id);
    if (found == open.end() || found->second->machine.ended()) return;
    const exchange_ptr one = found->second;
    one->machine.cancel();
    release(*one);
    boost::asio::post(context, [self = shared_from_this(), one] { self->report(*one); });
  }

  void shut_down() {
    resolver.cancel();
    timer.cancel();
    for (const auto& one : std::exchange(idle, {})) one.link->close();
    for (const auto& [id, one] : std::exchange(open, {})) {
      one->machine.close();
      release(*one);
      one->to->on_end(one->machine.outcome());
    }
  }

 private:
  void perform(const exchange_ptr& one, action next_action) {
    switch (next_action) {
      case action::wait:
        break;
      case action::connect:
        connect(one);
        break;
      case action::send:
        send(one);
        break;
      case action::end:
        release(*one);
        report(*one);
        return;
    }
    wake_at(one->machine.deadline());
  }

  void give_up(const exchange_ptr& one, error why) {
    perform(one, one->machine.failed(std::move(why), clock_now()));
  }

  void report(exchange& one) {
    if (open.erase(one.id) == 1) one.to->on_end(one.machine.outcome());
  }

  static void attach(const exchange_ptr& one, connection_ptr link) {
    link->carries = one;
    one->link = std::move(link);
  }

  static connection_ptr detach(exchange& one) {
    if (one.link) one.link->carries = nullptr;
    return std::exchange(one.link, nullptr);
  }

  /// Gives back what an ended exchange holds, before its sink hears of the end and may start the next.
  void release(exchange& one) {
    if (!numeric_host && could_not_connect(one.machine.outcome())) addresses.clear();
    connection_ptr link = detach(one);
    if (!link) return;
    const auto life = one.machine.keep_for();
    if (!life || !link->fit()) return link->close();
    idle.push_back({std::move(link), one.read_at + *life});
    wake_at(idle.back().until);
  }

  connection_ptr take_idle() {
    while (!idle.empty()) {
      connection_ptr link = std::move(idle.back().link);
      idle.pop_back();
      if (link->fit()) return link;
      link->close();
    }
    return nullptr;
  }

  void connect(const exchange_ptr& one) {
    if (const auto unfit = detach(*one)) unfit->close();
    if (!addresses.empty()) return dial(one);
    waiting_for_addresses.push_back(one);
    if (waiting_for_addresses.size() == 1) resolve();
  }

  void resolve() {
    resolver.async_resolve(
        origin.host, std::to_string(origin.port), tcp::resolver::numeric_service,
        [self = shared_from_this()](const error_code& why, const tcp::resolver::results_type& found) {
          self->addresses = in_dial_order(found);
          for (const auto& one : std::exchange(self->waiting_for_addresses, {})) {
            if (one->machine.ended()) continue;
            if (!self->addresses.empty()) {
              self->dial(one);
            } else {
              self->give_up(one, fail(errc::transport, stage::connect,
                                      "cannot find the host " + self->origin.host + ": " + words_of(why)));
            }
          }
        });
  }

  void dial(const exchange_ptr& one) {
    attach(one, std::make_shared<connection>(context, plain));
    one->link->connect(addresses, [self = shared_from_this(), one, link = one->link](const error_code& why) {
      if (one->link != link) return;
      if (why) {
        return self->give_up(one, fail(errc::transport, stage::connect,
                                       "cannot connect to " + self->peer + ": " + words_of(why)));
      }
      self->prefer(link->peer());
      if (self->tls) return self->secure(one);
      self->perform(one, one->machine.connected(clock_now()));
    });
  }

  /// The address that answered is tried first from now on: a dead one before it costs its time once.
  void prefer(const tcp::endpoint& answered) {
    const auto found = std::find(addresses.begin(), addresses.end(), answered);
    if (found != addresses.end()) std::rotate(addresses.begin(), found, found + 1);
  }

  void secure(const exchange_ptr& one) {
    ssl_st* session = (*tls)->open_session();
    if (session == nullptr) {
      return give_up(one, fail(errc::no_memory, stage::connect, "no memory for a TLS connection"));
    }
    one->link->secure(session, [self = shared_from_this(), one, link = one->link](const error_code& why) {
      if (one->link != link) return;
      if (!why) return self->perform(one, one->machine.connected(clock_now()));
      const bool from_openssl = why.category() == boost::asio::error::get_ssl_category();
      const auto reason = from_openssl ? static_cast<unsigned long>(why.value()) : 0UL;
      auto refused = fail(errc::transport, stage::connect, (*self->tls)->refusal(link->session(), reason));
      if (certificate_refused(link->session())) refused.should_retry = false;
      self->give_up(one, std::move(refused));
    });
  }

  void send(const exchange_ptr& one) {
    one->parser.emplace(bounds, *one);
    one->written = 0;
    // Reading begins with the writing: a server may refuse a request before it has read all of it.
    if (!one->link->listens()) listen(one->link);
    if (one->timed) one->link->time_arrivals();
    // All that a turn of the loop starts goes out at its end: to wake a server costs more than to write, and
    // it is awake for the rest of them.
    to_write.push_back(one->link);
    if (to_write.size() > 1) return;
    boost::asio::post(context, [self = shared_from_this()] {
      const auto now = clock_now();
      for (const auto& link : std::exchange(self->to_write, {})) {
        if (link->carries) self->write(link->carries, now);
      }
    });
  }

  void write(const exchange_ptr& one, instant now) {
    one->written += one->link->write_now(std::string_view(one->text).substr(one->written));
    if (one->written == one->text.size()) {
      one->machine.written(true, now);
      return wake_at(one->machine.deadline());
    }
    one->link->write_some(
        std::string_view(one->text).substr(one->written),
        [self = shared_from_this(), one, link = one->link](const error_code& why, std::size_t bytes) {
          // What a failed write means is told by the read: an answer that came all the same, or the break.
          if (one->link != link || why) return;
          one->written += bytes;
          const bool all = one->written == one->text.size();
          const auto then = clock_now();
          one->machine.written(all, then);
          if (!all) self->write(one, then);
          self->wake_at(one->machine.deadline());
        });
  }

  void listen(const connection_ptr& link) {
    link->listen(
        [self = shared_from_this(), link](const error_code& why, std::string_view bytes, instant came) {
          // A copy: the exchange may end, and the connection go to the next, meanwhile.
          if (const exchange_ptr one = link->carries) return self->take(one, why, bytes, came);
          std::erase_if(self->idle, [&](const idle_connection& held) { return held.link == link; });
          link->close();
        });
  }

  void take(const exchange_ptr& one, const error_code& why, std::string_view bytes, instant came) {
    one->read_at = std::max(one->read_at, came);
    // TLS without its goodbye: whoever sits in between may have cut it.
    const bool cut = why == boost::asio::ssl::error::stream_truncated;
    if (why && why != boost::asio::error::eof && !cut) {
      return give_up(
          one, fail(errc::transport, stage::none, "the connection to " + peer + " broke: " + words_of(why)));
    }
    // By the clock, since deadlines are about this process, too: one that was stopped is not late for what it
    // reads now.
    if (!why) one->machine.received(clock_now());
    auto outcome = why ? one->parser->finish() : one->parser->feed(bytes);
    if (one->machine.ended()) return;  // The sink cancelled.
    if (cut && outcome) {
      outcome = fail(errc::truncated, stage::body,
                     "the server broke the TLS connection off, so the answer may lack its end");
    }
    if (!outcome) {
      error failure = std::move(outcome).error();
      failure.message = peer + ": " + failure.message;
      return give_up(one, std::move(failure));
    }
    if (one->parser->done()) {
      return perform(one, one->machine.completed(one->parser->reusable(), one->parser->head()));
    }
    wake_at(one->machine.deadline());
  }

  /// Deadlines mostly move later, with each piece that arrives, and exchanges mostly end long before theirs.
  /// So the timer is left at the earliest time that it was ever told, and all are looked at when it fires.
  void wake_at(std::optional<instant> at) {
    if (!at || (timer_set_to && *timer_set_to <= *at)) return;
    timer_set_to = at;
    timer.expires_at(*at);
    timer.async_wait([self = shared_from_this()](const error_code& why) {
      if (!why) self->look_at_deadlines();
    });
  }

  void look_at_deadlines() {
    timer_set_to = std::nullopt;
    const auto now = clock_now();
    std::vector<exchange_ptr> due;
    std::optional<instant> earliest;
    const auto consider = [&](instant at) { earliest = earliest ? std::min(*earliest, at) : at; };
    for (const auto& [id, one] : open) {
      const auto at = one->machine.deadline();
      if (at && *at <= now) due.push_back(one);
      if (at && *at > now) consider(*at);
    }
    std::erase_if(idle, [&](const idle_connection& one) {
      if (one.until <= now) one.link->close();
      return one.until <= now;
    });
    for (const auto& one : idle) consider(one.until);
    wake_at(earliest);
    for (const auto& one : due) {
      if (!one->machine.ended()) perform(one, one->machine.expired(now));
    }
  }
};

http_client::http_client(loop& owner, url origin, http_limits bounds, const tls_options& tls)
    : impl_(std::make_shared<impl>(owner, std::move(origin), bounds, tls)) {}

http_client::~http_client() { impl_->shut_down(); }

http_client::exchange_id http_client::start(http_request request, std::shared_ptr<http_sink> sink) {
  return impl_->start(std::move(request), std::move(sink));
}

void http_client::cancel(exchange_id id) { impl_->cancel(id); }

}  // namespace evalcore::net
