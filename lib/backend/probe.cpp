#include <evalcore/backend/probe.hpp>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/probe_judges.hpp"

namespace evalcore::backend {
namespace {

/// Failures to reach anybody, one after the other, after which nobody is asked again.
constexpr int patience = 2;

/// Where the answers to one batch of questions come together.
class meeting {
 public:
  explicit meeting(std::size_t questions) : answers_(questions), open_(questions) {}

  /// On the loop.
  void give(std::size_t which, answer what) {
    const std::lock_guard lock(guarded_);
    if (which >= answers_.size()) return;  // Too late.
    answers_[which] = std::move(what);
    --open_;
    changed_.notify_all();
  }
  /// Whether all came in time.
  bool wait(std::chrono::milliseconds span, const std::stop_token& stop) {
    std::unique_lock lock(guarded_);
    return changed_.wait_for(lock, stop, span, [this] { return open_ == 0; });
  }
  std::vector<std::optional<answer>> take() {
    const std::lock_guard lock(guarded_);
    return std::exchange(answers_, {});
  }

 private:
  std::mutex guarded_;
  std::condition_variable_any changed_;
  std::vector<std::optional<answer>> answers_;
  std::size_t open_;
};

class reply_sink final : public sink {
 public:
  explicit reply_sink(std::function<void(answer)> done) : done_(std::move(done)) {}
  void on_end(result<chat::reply> outcome) override {
    if (outcome) {
      done_(answer(*std::move(outcome)));
    } else {
      done_(std::move(outcome).error());
    }
  }

 private:
  std::function<void(answer)> done_;
};

template <class T>
std::function<void(result<T>)> as_answer(std::function<void(answer)> done) {
  return [done = std::move(done)](result<T> outcome) {
    if (!outcome) return done(std::move(outcome).error());
    if constexpr (std::is_void_v<T>) {
      done(answer(std::monostate()));
    } else {
      done(answer(*std::move(outcome)));
    }
  };
}

/// On the loop. Gives the ticket of a chat request.
std::optional<ticket> send(backend& to, const question& one, std::function<void(answer)> done) {
  switch (one.how) {
    case question::kind::chat:
      return to.start(one.request, std::make_shared<reply_sink>(std::move(done)));
    case question::kind::two_answers:
      to.ask(one.request, {{"n", 2}}, as_answer<raw_answer>(std::move(done)));
      break;
    case question::kind::models:
      to.list_models(as_answer<std::vector<listed_model>>(std::move(done)));
      break;
    case question::kind::tools:
      to.check_tools({probe_tool()}, as_answer<bool>(std::move(done)));
      break;
    case question::kind::prompt_logprobs:
      to.check_prompt_logprobs(as_answer<void>(std::move(done)));
      break;
  }
  return std::nullopt;
}

class prober {
 public:
  prober(net::loop& owner, backend& of, const probe_options& how, std::stop_token stop)
      : loop_(owner), backend_(of), how_(how), stop_(std::move(stop)), state_{dialect_of(of.about()), {}} {}

  result<probe_report> run() {
    auto& report = state_.report;
    report.about = backend_.about();
    report.depth = state_.ways.paid ? probe_depth::cheap : probe_depth::full;
    for (const auto& one : checks()) {
      auto judged = make(one);
      if (!judged) return std::move(judged).error();
      report.findings.push_back({std::string(one.name), judged->found, std::move(judged->evidence)});
      if (one.name == "chat" && !state_.plain) report.alive = false;
    }
    return std::move(report);
  }

 private:
  result<verdict> make(const check& one) {
    if (!state_.report.alive) return verdict{ability::unknown, "not asked: it gives no answers"};
    if (state_.ways.paid && !one.paid_too) {
      return verdict{ability::unknown, "not asked: requests to this kind of server are paid for"};
    }
    auto asked = one.ask(state_);
    if (auto* known = std::get_if<verdict>(&asked)) return std::move(*known);
    const auto& questions = std::get<std::vector<question>>(asked);
    if (how_.note && !questions.empty()) how_.note("probing: " + std::string(one.name));
    std::vector<answer> answers;
    for (std::size_t at = 0; at < questions.size();) {
      const auto size = at == 0 ? std::min(one.side_by_side, questions.size()) : 1;
      auto batch = exchange(std::span(questions).subspan(at, size));
      if (stop_.stop_requested()) {
        return fail(errc::cancelled, stage::start, "interrupted while probing " + backend_.about().selector);
      }
      std::ranges::move(batch, std::back_inserter(answers));
      at += size;
    }
    return one.judge(state_, answers);
  }

  std::vector<answer> exchange(std::span<const question> questions) {
    const auto held = std::make_shared<meeting>(questions.size());
    std::vector<ticket> tickets;
    loop_.run_and_wait([&] {
      for (std::size_t i = 0; i < questions.size(); ++i) {
        const auto sent =
            send(backend_, questions[i], [held, i](answer what) { held->give(i, std::move(what)); });
        if (sent) tickets.push_back(*sent);
      }
    });
    state_.report.questions += static_cast<std::uint32_t>(questions.size());
    std::vector<answer> answers;
    const bool all = held->wait(how_.each, stop_);
    for (auto& one : held->take()) answers.push_back(one ? *std::move(one) : too_late());
    if (!all) {
      loop_.run_and_wait([&] {
        for (const auto one : tickets) backend_.cancel(one);
      });
    }
    for (const auto& one : answers) note_health(one);
    return answers;
  }

  [[nodiscard]] error too_late() const {
    return fail(errc::timeout, stage::body,
                "no answer within " + std::to_string(how_.each.count() / 1000) + " s");
  }

  void note_health(const answer& one) {
    failures_ = !one && nobody_there(one.error()) ? failures_ + 1 : 0;
    if (failures_ >= patience) state_.report.alive = false;
  }

  net::loop& loop_;
  backend& backend_;
  const probe_options& how_;
  std::stop_token stop_;
  probe_state state_;
  int failures_ = 0;
};

}  // namespace

result<probe_report> probe(net::loop& owner, backend& of, const probe_options& how,
                           const std::stop_token& stop) {
  return prober(owner, of, how, stop).run();
}

error no_answers(const probe_report& of) {
  const auto* chat = of.find("chat");
  return fail(errc::transport, stage::start,
              of.about.selector + " gives no answers" +
                  (chat == nullptr ? "" : "; a plain request: " + chat->evidence));
}

}  // namespace evalcore::backend
