#include <evalcore/backend/scripted.hpp>

#include <unordered_map>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/base/hash.hpp>

#include "backend/script.hpp"

namespace evalcore::backend {
namespace {

class scripted final : public backend {
 public:
  scripted(net::loop& owner, script lines, info about)
      : loop_(owner), script_(std::move(lines)), info_(std::move(about)) {}

  ~scripted() override {
    loop_.run_and_wait([this] {
      while (!open_.empty())
        end(open_.begin()->first, fail(errc::closed, stage::body, "the backend was closed"));
    });
  }

  [[nodiscard]] const info& about() const override { return info_; }
  [[nodiscard]] capabilities can() const override {
    return {.tokenize = ability::no, .slot_pinning = ability::no, .share_prefix = ability::no};
  }

  ticket start(const chat::request& request, std::shared_ptr<sink> to) override {
    const ticket which = next_++;
    auto& one = open_[which];
    one.to = std::move(to);
    one.began = std::chrono::steady_clock::now();
    if (const auto fit = check(request); !fit) {
      one.finish = loop_.after(duration(0), [this, which, why = fit.error()] { end(which, why); });
      return which;
    }
    const auto* line = script_.take(request);
    if (line == nullptr) {
      one.finish = loop_.after(duration(0), [this, which] {
        end(which, fail(errc::invalid_request, stage::send,
                        "no line of the script serves this request; add one without \"match\""));
      });
      return which;
    }
    if (line->first_token || !line->fault) {
      one.first =
          loop_.after(line->first_token.value_or(line->delay), [this, which, line] { first(which, *line); });
    }
    one.finish = loop_.after(line->delay, [this, which, line] { last(which, *line); });
    return which;
  }

  void cancel(ticket which) override {
    const auto found = open_.find(which);
    if (found == open_.end() || found->second.cancelled) return;
    silence(found->second);
    found->second.cancelled = true;
    found->second.finish = loop_.after(
        duration(0), [this, which] { end(which, fail(errc::cancelled, stage::body, "cancelled")); });
  }

 private:
  struct exchange {
    std::shared_ptr<sink> to;
    instant began;
    std::optional<duration> first_token;
    std::optional<net::loop::timer_id> first;
    std::optional<net::loop::timer_id> finish;
    bool cancelled = false;
  };

  void first(ticket which, const script_line& line) {
    auto& one = open_.at(which);
    one.first.reset();
    const auto now = std::chrono::steady_clock::now();
    one.first_token = now - one.began;
    one.to->on_first_token(now);
    if (!line.reply.text.empty() && !one.cancelled) one.to->on_text(line.reply.text);
  }

  void last(ticket which, const script_line& line) {
    // Timers that are due together may run in any order: the first token still comes first.
    const auto& one = open_.at(which);
    if (one.first) {
      loop_.cancel(*one.first);
      first(which, line);
      if (one.cancelled) return;
    }
    if (line.fault) return end(which, *line.fault);
    auto reply = line.reply;
    reply.model = info_.model;
    reply.timing = {.first_token = one.first_token, .total = std::chrono::steady_clock::now() - one.began};
    end(which, std::move(reply));
  }

  void end(ticket which, result<chat::reply> outcome) {
    auto gone = open_.extract(which);
    silence(gone.mapped());
    gone.mapped().to->on_end(std::move(outcome));
  }

  void silence(exchange& one) {
    for (auto* timer : {&one.first, &one.finish}) {
      if (*timer) loop_.cancel(**timer);
      timer->reset();
    }
  }

  net::loop& loop_;
  script script_;
  info info_;
  std::unordered_map<ticket, exchange> open_;
  ticket next_ = 1;
};

}  // namespace

result<std::unique_ptr<backend>> open_scripted(net::loop& owner, const std::string& path) {
  const auto text = read_file(path, "script", stage::start);
  if (!text) return text.error();
  auto lines = script::parse(*text, path);
  if (!lines) return lines.error();
  info about{.selector = "scripted",
             .dialect = "",
             .model = "scripted",
             .identity = {},
             .slots = {},
             .context_per_slot = {}};
  about.identity = {
      {"selector", about.selector}, {"model", about.model}, {"script", sha256().raw(*text).hex()}};
  return std::unique_ptr<backend>(std::make_unique<scripted>(owner, *std::move(lines), std::move(about)));
}

}  // namespace evalcore::backend
