#include "backend/chat_exchange.hpp"

#include <utility>

#include "backend/server_advice.hpp"

namespace evalcore::backend {
namespace {

constexpr int ok = 200;
/// Of a longer one, the status says enough.
constexpr std::size_t most_refusal_bytes = std::size_t{1024} * 1024;

}  // namespace

chat_exchange::chat_exchange(const endpoint& at, const chat_codec& format, bool stream,
                             std::shared_ptr<sink> to, std::function<void()> spent)
    : at_(at),
      format_(format),
      stream_(stream),
      to_(std::move(to)),
      spent_(std::move(spent)),
      began_(std::chrono::steady_clock::now()) {}

std::shared_ptr<sink> chat_exchange::abandon() { return std::exchange(to_, nullptr); }

void chat_exchange::on_head(const net::http_head& head) {
  status_ = head.status;
  if (status_ != ok) head_ = head;
  if (to_ && tells_a_limit(head)) {
    const auto limits = read_rate_report(head, std::chrono::system_clock::now());
    if (limits) to_->on_rate_report(*limits);
  }
  // Some servers ignore `stream` and answer with one JSON object.
  const auto type = head.header("content-type");
  html_ = type.find("text/html") != std::string_view::npos;
  const bool whole = status_ != ok || type.find("json") != std::string_view::npos;
  if (stream_ && !whole) events_ = format_.events();
}

void chat_exchange::on_body(std::string_view piece, instant now) {
  if (!to_) return;
  if (first_ == 0) {
    const auto at = piece.find_first_not_of(" \t\r\n");
    if (at != std::string_view::npos) first_ = piece[at];
  }
  if (!events_) {
    body_.append(piece);
    if (status_ != ok && body_.view().size() > most_refusal_bytes) end(refusal());
    return;
  }
  const auto made = events_->feed(piece);
  if (!made) return end(made.error());
  if (made->content && !timing_.first_token) {
    timing_.first_token = now - began_;
    to_->on_first_token(now);
  }
  // The sink may have cancelled.
  if (to_ && !made->text.empty()) to_->on_text(made->text);
}

void chat_exchange::on_end(result<void> outcome) {
  if (!to_) return;
  timing_.total = std::chrono::steady_clock::now() - began_;
  // A refusal is one even when its body broke off.
  if (status_ != 0 && status_ != ok) return end(refusal());
  if (!outcome) return end(std::move(outcome).error());
  auto reply = events_ ? events_->take() : format_.decode(body_.view(), begun_);
  if (!reply && html_ && first_ == '<') return end(page_error());
  if (reply) {
    // The answer's text is the model's and stays as it is.
    for (auto* said : {&reply->model, &reply->finish_raw, &reply->stop_string}) {
      *said = at_.without_secrets(std::move(*said));
    }
    reply->timing = timing_;
    reply->dropped = std::move(dropped_);
  }
  end(std::move(reply));
}

error chat_exchange::page_error() const {
  return fail(errc::bad_reply, stage::decode,
              at_.name() +
                  " answers with a web page (text/html) in place of an answer; is it a proxy, or a "
                  "page to log in?");
}

error chat_exchange::refusal() const {
  auto why = format_.classify(head_.status, body_.view());
  take_advice(why, head_, std::chrono::system_clock::now());
  return why;
}

void chat_exchange::end(result<chat::reply>&& outcome) {
  const auto to = abandon();
  spent_();  // May drop the last reference that others hold; whoever calls us holds one.
  if (!outcome) outcome = at_.without_secrets(std::move(outcome).error());
  to->on_end(std::move(outcome));
}

}  // namespace evalcore::backend
