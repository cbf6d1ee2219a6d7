#include "backend/managed_chat.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
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

/// Looks after the child: finds out whether a failed request failed because it died, and starts it again.
/// Outlives the backend as long as a request is being looked into. On the loop, but for end().
struct managed_chat::guardian : std::enable_shared_from_this<guardian> {
  guardian(net::loop& owner, std::string called, std::shared_ptr<managed_process> whom, revive_function how)
      : loop(owner), name(std::move(called)), child(std::move(whom)), revive(std::move(how)) {}

  net::loop& loop;
  std::string name;
  std::shared_ptr<managed_process> child;
  revive_function revive;
  bool ended = false;
  bool reviving = false;
  std::optional<error> not_revived;  ///< Why the last attempt failed.
  std::jthread reviver;

  /// Whether a request can be sent; if not, why, and what can be done about it is begun.
  [[nodiscard]] std::optional<error> absent() {
    const auto how = child->exited();  // While it is being started again, `child` is still the dead one.
    if (!how) return std::nullopt;
    auto why = death_of(name, *how, *child);
    why.code = errc::overloaded;
    why.message += "; it is being started again";
    if (not_revived) why.message += "; the last attempt: " + not_revived->message;
    start_again();
    return why;
  }

  void start_again() {
    if (reviving || ended) return;
    reviving = true;
    // A thread that has told its result ends at once, so the assignment waits for nothing.
    reviver = std::jthread(
        [self = weak_from_this(), &loop = loop, dead = child, revive = revive](const std::stop_token& stop) {
          dead->stop(grace);  // Its children may still have its port.
          auto outcome = revive(stop);
          loop.post([self, outcome = std::move(outcome)] {
            if (const auto alive = self.lock()) alive->revived(outcome);
          });
        });
  }

  void revived(const result<std::shared_ptr<managed_process>>& outcome) {
    reviving = false;
    not_revived.reset();
    if (outcome) {
      child = *outcome;
    } else {
      not_revived = outcome.error();
    }
  }

  /// The child ends here, and not with the last reference, which the loop may hold for a moment.
  void end() {
    loop.run_and_wait([this] { ended = true; });
    reviver.request_stop();
    if (reviver.joinable()) reviver.join();
    loop.run_and_wait([] {});  // What it posted has run.
    child->stop(grace);
  }

  void examine(error failure, std::function<void(error)> tell, int left = looks) {
    const bool suspicious = failure.code == errc::transport || failure.code == errc::truncated;
    if (ended || !suspicious) return tell(std::move(failure));
    // Also while it is being started again: all that were out with it hear the same.
    if (const auto how = child->exited()) {
      auto why = death_of(name, *how, *child);
      why.at = failure.at;
      why.server_died = true;
      start_again();
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
  void on_rate_report(const rate_report& limits) override { to_->on_rate_report(limits); }
  void on_end(result<chat::reply> outcome) override { end_(std::move(outcome)); }

 private:
  std::shared_ptr<sink> to_;
  std::function<void(result<chat::reply>)> end_;
};

}  // namespace

managed_chat::managed_chat(net::loop& owner, std::string name, std::shared_ptr<managed_process> child,
                           revive_function revive, private_folder folder, std::unique_ptr<backend> server)
    : guardian_(std::make_shared<guardian>(owner, std::move(name), std::move(child), std::move(revive))),
      folder_(std::move(folder)),
      server_(std::move(server)) {}

managed_chat::~managed_chat() {
  server_.reset();
  guardian_->end();
}

ticket managed_chat::start(const chat::request& request, std::shared_ptr<sink> to) {
  if (auto why = guardian_->absent()) {
    guardian_->loop.post([to = std::move(to), why = *std::move(why)] { to->on_end(why); });
    return 0;  // Nothing of the server's; to cancel it is without effect, as it has ended.
  }
  const std::function<void(result<chat::reply>)> end = [to](result<chat::reply> outcome) {
    to->on_end(std::move(outcome));
  };
  return server_->start(request, std::make_shared<forwarding_sink>(to, guardian_->around(end)));
}

void managed_chat::render(const chat::request& request, std::function<void(result<std::string>)> done) {
  server_->render(request, guardian_->around(std::move(done)));
}

void managed_chat::tokenize(const chat::request& request,
                            std::function<void(result<std::vector<token>>)> done) {
  server_->tokenize(request, guardian_->around(std::move(done)));
}

void managed_chat::share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                                std::function<void(result<void>)> done) {
  server_->share_prefix(from, std::move(to), guardian_->around(std::move(done)));
}

void managed_chat::check_tools(const std::vector<chat::tool>& tools, std::function<void(result<bool>)> done) {
  server_->check_tools(tools, guardian_->around(std::move(done)));
}

void managed_chat::loglikelihood(const chat::loglikelihood_request& request,
                                 std::function<void(result<chat::loglikelihood>)> done) {
  server_->loglikelihood(request, guardian_->around(std::move(done)));
}

void managed_chat::check_prompt_logprobs(std::function<void(result<void>)> done) {
  server_->check_prompt_logprobs(guardian_->around(std::move(done)));
}

void managed_chat::list_models(std::function<void(result<std::vector<listed_model>>)> done) {
  server_->list_models(guardian_->around(std::move(done)));
}

void managed_chat::ask(const chat::request& request, const json::object& more,
                       std::function<void(result<raw_answer>)> done) {
  server_->ask(request, more, guardian_->around(std::move(done)));
}

}  // namespace evalcore::backend
