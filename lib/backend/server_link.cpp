#include "backend/server_link.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <evalcore/base/byte_buffer.hpp>

namespace evalcore::backend {
namespace {

using fetched = std::function<void(result<http_answer>)>;

class collecting_sink final : public net::http_sink {
 public:
  explicit collecting_sink(fetched done) : done_(std::move(done)) {}

  void on_head(const net::http_head& head) override { answer_.head = head; }
  void on_body(std::string_view piece, instant /*now*/) override { body_.append(piece); }
  void on_end(result<void> outcome) override {
    if (outcome) {
      answer_.body = body_.view();
      done_(std::move(answer_));
    } else {
      done_(std::move(outcome).error());
    }
  }

 private:
  http_answer answer_;
  byte_buffer body_;
  fetched done_;
};

}  // namespace

net::deadlines short_deadlines(const net::deadlines& asked) {
  const auto shorter = [](duration wanted, duration most) {
    return wanted > duration::zero() ? std::min(wanted, most) : most;
  };
  auto bounds = asked;
  bounds.first_byte = shorter(asked.first_byte, std::chrono::seconds(30));
  bounds.idle = shorter(asked.idle, std::chrono::seconds(30));
  bounds.attempt = shorter(asked.attempt, std::chrono::seconds(60));
  return bounds;
}

server_link::server_link(net::loop& owner, endpoint at, const net::tls_options& tls)
    : loop_(owner), at_(std::move(at)) {
  loop_.run_and_wait(
      [&] { client_ = std::make_unique<net::http_client>(loop_, at_.at, net::http_limits{}, tls); });
}

server_link::~server_link() {
  loop_.run_and_wait([this] {
    const auto last = std::move(client_);  // What ends by its end finds no client here.
  });
}

net::http_client::exchange_id server_link::start(net::http_request request,
                                                 std::shared_ptr<net::http_sink> to) {
  return client_->start(std::move(request), std::move(to));
}

void server_link::cancel(net::http_client::exchange_id which) {
  if (client_) client_->cancel(which);
}

void server_link::fetch(net::http_request request, fetched done) {
  client_->start(std::move(request), std::make_shared<collecting_sink>(std::move(done)));
}

result<http_answer> server_link::fetch_and_wait(net::http_request request, const std::stop_token& stop) {
  struct meeting {
    std::mutex guarded;
    std::condition_variable_any changed;
    std::optional<result<http_answer>> answer;
  };
  const auto held = std::make_shared<meeting>();
  const auto done = [held](result<http_answer> answer) {
    const std::lock_guard lock(held->guarded);
    held->answer = std::move(answer);
    held->changed.notify_all();
  };
  net::http_client::exchange_id which = 0;
  loop_.run_and_wait(
      [&] { which = client_->start(std::move(request), std::make_shared<collecting_sink>(done)); });
  std::unique_lock lock(held->guarded);
  if (!held->changed.wait(lock, stop, [&] { return held->answer.has_value(); })) {
    lock.unlock();
    loop_.run_and_wait([&] { client_->cancel(which); });
    return fail(errc::cancelled, stage::start, "interrupted while waiting for " + at_.name());
  }
  return *std::move(held->answer);
}

}  // namespace evalcore::backend
