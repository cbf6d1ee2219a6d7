#include "backend/managed_chat.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evalcore/base/limits.hpp>

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;

// A dying process closes its sockets a moment before it can be waited for.
constexpr milliseconds look_again = milliseconds(10);
constexpr int looks = 20;

// The server has nothing to save, and an interrupted run is to end within two seconds.
constexpr auto grace = std::chrono::seconds(1);

constexpr std::size_t shown_lines = 3;

}  // namespace

error death_of(const std::string& name, const exit_status& how, const managed_process& child) {
  const auto log = child.log();
  const auto tail = last_lines(log, shown_lines);
  auto why = fail(errc::backend_fault, stage::start,
                  name + " died (" + how.text() + ")" + (tail.empty() ? "" : "; last lines: " + tail));
  why.backend_words = log.substr(log.size() - std::min<std::size_t>(log.size(), limits::backend_words_bytes));
  return why;
}

/// Finds out whether a failed request failed because the child died. Outlives the backend as long as a
/// request is being looked into.
struct managed_chat::coroner : std::enable_shared_from_this<coroner> {
  coroner(net::loop& owner, std::string called, std::weak_ptr<managed_process> whom)
      : loop(owner), name(std::move(called)), child(std::move(whom)) {}

  net::loop& loop;
  std::string name;
  std::weak_ptr<managed_process> child;

  void examine(error failure, std::function<void(error)> tell, int left = looks) {
    const auto alive = child.lock();
    const bool suspicious = failure.code == errc::transport || failure.code == errc::truncated;
    if (!alive || !suspicious) return tell(std::move(failure));
    if (const auto how = alive->exited()) {
      auto why = death_of(name, *how, *alive);
      why.at = failure.at;
      return tell(std::move(why));
    }
    if (left == 0) return tell(std::move(failure));
    loop.after(look_again, [self = shared_from_this(), failure = std::move(failure), tell = std::move(tell),
                            left] { self->examine(failure, tell, left - 1); });
  }

  template <class T>
  std::function<void(result<T>)> around(std::function<void(result<T>)> done) {
    return [self = shared_from_this(), done = std::move(done)](result<T> outcome) {
      if (outcome) return done(std::move(outcome));
      self->examine(std::move(outcome).error(), [done](error why) { done(std::move(why)); });
    };
  }
};

namespace {

class forwarding_sink final : public sink {
 public:
  forwarding_sink(std::shared_ptr<sink> to, std::function<void(result<chat::reply>)> end)
      : to_(std::move(to)), end_(std::move(end)) {}

  void on_first_token(instant now) override { to_->on_first_token(now); }
  void on_text(std::string_view delta) override { to_->on_text(delta); }
  void on_end(result<chat::reply> outcome) override { end_(std::move(outcome)); }

 private:
  std::shared_ptr<sink> to_;
  std::function<void(result<chat::reply>)> end_;
};

}  // namespace

managed_chat::managed_chat(net::loop& owner, std::string name, std::shared_ptr<managed_process> child,
                           private_folder folder, std::unique_ptr<backend> server)
    : coroner_(std::make_shared<coroner>(owner, std::move(name), child)),
      child_(std::move(child)),
      folder_(std::move(folder)),
      server_(std::move(server)) {}

managed_chat::~managed_chat() {
  server_.reset();
  // Here and not with the last reference, which the loop may hold for a moment.
  child_->stop(grace);
}

ticket managed_chat::start(const chat::request& request, std::shared_ptr<sink> to) {
  const std::function<void(result<chat::reply>)> end = [to](result<chat::reply> outcome) {
    to->on_end(std::move(outcome));
  };
  return server_->start(request, std::make_shared<forwarding_sink>(to, coroner_->around(end)));
}

void managed_chat::tokenize(const chat::request& request,
                            std::function<void(result<std::vector<token>>)> done) {
  server_->tokenize(request, coroner_->around(std::move(done)));
}

void managed_chat::share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                                std::function<void(result<void>)> done) {
  server_->share_prefix(from, std::move(to), coroner_->around(std::move(done)));
}

void managed_chat::check_tools(const std::vector<chat::tool>& tools, std::function<void(result<bool>)> done) {
  server_->check_tools(tools, coroner_->around(std::move(done)));
}

void managed_chat::loglikelihood(const chat::loglikelihood_request& request,
                                 std::function<void(result<chat::loglikelihood>)> done) {
  server_->loglikelihood(request, coroner_->around(std::move(done)));
}

void managed_chat::check_prompt_logprobs(std::function<void(result<void>)> done) {
  server_->check_prompt_logprobs(coroner_->around(std::move(done)));
}

void managed_chat::list_models(std::function<void(result<std::vector<listed_model>>)> done) {
  server_->list_models(coroner_->around(std::move(done)));
}

void managed_chat::ask(const chat::request& request, const json::object& more,
                       std::function<void(result<raw_answer>)> done) {
  server_->ask(request, more, coroner_->around(std::move(done)));
}

}  // namespace evalcore::backend
