#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/run/episodes.hpp>
#include <evalcore/wire/openai_chat.hpp>

/// A shop as in tau-bench's retail domain, small enough to follow by hand: a customer who wants an order
/// cancelled, the tools of the shop's agent, and an agent that answers by rule, in place of a model.
namespace evalcore::test {

inline chat::message says(chat::role who, std::string text) {
  chat::message turn;
  turn.who = who;
  turn.text = std::move(text);
  return turn;
}

/// Answers from the loop, by nothing but the request. It is asked about orders W0, W1, …, of which every
/// third is delivered. Its tokens are the bytes of the messages; cached is what they have in common with the
/// last ones in the same slot, or with any where there are no slots.
class retail_agent final : public backend::backend {
 public:
  explicit retail_agent(net::loop& owner, std::optional<std::uint32_t> slots = {}) : loop_(owner) {
    info_.identity = {{"selector", "retail"}};
    info_.slots = slots;
  }

  const ::evalcore::backend::info& about() const override { return info_; }
  ::evalcore::backend::capabilities can() const override {
    ::evalcore::backend::capabilities able;
    if (info_.slots) able.slot_pinning = able.share_prefix = ::evalcore::backend::ability::yes;
    return able;
  }
  ::evalcore::backend::ticket start(const chat::request& request,
                                    std::shared_ptr<::evalcore::backend::sink> to) override {
    const auto ticket = ++last_ticket_;
    const auto text = wire::identity_text(request);
    sent[text] += 1;
    slots_used.push_back(request.hints.slot);
    open_.emplace(ticket, std::move(to));
    most_open = std::max(most_open, open_.size());
    if (stalls && stalls(request)) return ticket;
    auto outcome = refuses ? refuses(request) : std::nullopt;
    // So that episodes overtake each other.
    const auto delay = slow * static_cast<int>(1 + std::hash<std::string>()(text) % 5);
    loop_.after(delay, [this, ticket, outcome, reply = answer(request), prompt = prompt_of(request),
                        slot = request.hints.slot.value_or(0)]() mutable {
      if (!open_.contains(ticket)) return;
      keep(slot, prompt);
      open_.at(ticket)->on_first_token(std::chrono::steady_clock::now());
      end(ticket, outcome ? result<chat::reply>(*outcome) : std::move(reply));
    });
    return ticket;
  }
  void share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                    std::function<void(result<void>)> done) override {
    for (const auto slot : to) held_[slot] = held_[from];
    shares.emplace_back(from, std::move(to));
    loop_.post([done = std::move(done)] { done({}); });
  }
  void cancel(::evalcore::backend::ticket which) override {
    loop_.post([this, which] { end(which, fail(errc::cancelled, stage::body, "cancelled")); });
  }

  duration slow = std::chrono::microseconds(200);
  std::function<bool(const chat::request&)> stalls;                   ///< Never answered.
  std::function<std::optional<error>(const chat::request&)> refuses;  ///< Answered with this.
  // To be read when nothing is out.
  std::map<std::string, int> sent;  ///< By canonical text.
  std::vector<std::optional<std::uint32_t>> slots_used;
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> shares;
  std::size_t most_open = 0;

 private:
  chat::reply answer(const chat::request& request) {
    const auto& last = request.messages.back();
    chat::reply reply;
    const auto order =
        last.text.find('W') == std::string::npos ? "" : last.text.substr(last.text.find('W'), 2);
    const auto call = [&](const std::string& tool) {
      reply.calls = {{"call_" + std::to_string(request.messages.size()), tool,
                      "{ \"order_id\":  \"" + order + "\" }"}};  // As no writer of JSON would put it.
    };
    if (last.who == chat::role::user) {
      call(last.text.starts_with("Exchange") ? "exchange_order" : "get_order");
    } else if (last.text.ends_with("pending")) {
      call("cancel_order");
    } else if (last.text.ends_with("delivered")) {
      reply.text = "Order " + order + " has arrived. An exchange?";
    } else {
      reply.text = "Done with " + order + ".";
    }
    reply.finish = reply.calls.empty() ? chat::finish_reason::stop : chat::finish_reason::tool_calls;
    reply.reasoning = "by the book";
    const auto prompt = prompt_of(request);
    reply.usage.prompt_tokens = prompt.size();
    reply.usage.completion_tokens = 10;
    reply.usage.cached_tokens = cached(request.hints.slot.value_or(0), prompt);
    return reply;
  }
  static std::string prompt_of(const chat::request& request) {
    std::string prompt;
    for (const auto& turn : request.messages) {
      prompt += turn.text;
      for (const auto& one : turn.calls) prompt += one.arguments;
    }
    return prompt;
  }
  std::uint64_t cached(std::uint32_t slot, const std::string& prompt) {
    std::uint64_t most = 0;
    for (const auto& held : held_[slot]) {
      most =
          std::max(most, static_cast<std::uint64_t>(std::ranges::mismatch(held, prompt).in1 - held.begin()));
    }
    return most;
  }
  void keep(std::uint32_t slot, std::string prompt) {
    if (info_.slots) held_[slot].clear();
    held_[slot].push_back(std::move(prompt));
  }
  void end(::evalcore::backend::ticket which, result<chat::reply> outcome) {
    auto found = open_.extract(which);
    if (found) found.mapped()->on_end(std::move(outcome));
  }

  net::loop& loop_;
  ::evalcore::backend::info info_;
  std::map<::evalcore::backend::ticket, std::shared_ptr<::evalcore::backend::sink>> open_;
  std::map<std::uint32_t, std::vector<std::string>> held_;
  ::evalcore::backend::ticket last_ticket_ = 0;
};

/// One customer with the shop's state: the host's side of an episode.
class retail_task {
 public:
  explicit retail_task(int number, std::string policy = "Follow its policy to the letter.")
      : policy_(std::move(policy)), order_("W" + std::to_string(number)) {
    status_ = number % 3 == 0 ? "delivered" : "pending";
  }

  [[nodiscard]] chat::request first() const {
    chat::request request;
    request.messages = {says(chat::role::system, "You are the agent of a shop. " + policy_),
                        says(chat::role::user, "Cancel order " + order_ + ", please.")};
    for (const auto* tool : {"get_order", "cancel_order", "exchange_order"}) {
      request.tools.push_back(
          {.name = tool,
           .description = "",
           .parameters = R"({"type":"object","properties":{"order_id":{"type":"string"}}})"});
    }
    request.params.temperature = 0;
    return request;
  }
  /// What follows a reply; nothing when the conversation is over.
  [[nodiscard]] std::vector<chat::message> react(const chat::reply& reply) {
    std::vector<chat::message> next;
    for (const auto& call : reply.calls) {
      if (call.name == "cancel_order") status_ = "cancelled";
      if (call.name == "exchange_order") status_ = "exchanged";
      auto result = says(chat::role::tool, order_ + " is " + status_);
      result.call_id = call.id;
      next.push_back(std::move(result));
    }
    if (reply.text.ends_with("exchange?")) {
      next.push_back(says(chat::role::user, "Exchange order " + order_ + " then."));
    }
    return next;
  }
  [[nodiscard]] std::string outcome() const { return "{\"status\": \"" + status_ + "\"}"; }

 private:
  std::string policy_;
  std::string order_;
  std::string status_;
};

/// Plays tasks 0 … count - 1 to their end, or until so many events have come. Gives all events.
inline std::vector<run::episode_event> play(run::episodes& with, int count,
                                            std::size_t most_events = SIZE_MAX,
                                            const std::string& policy = "Follow its policy to the letter.") {
  std::map<run::episode_number, retail_task> tasks;
  for (int number = 0; number < count; ++number) {
    retail_task task(number, policy);
    const auto begun = with.begin("task" + std::to_string(number), task.first());
    if (!begun) return {};
    tasks.emplace(*begun, task);
  }
  std::vector<run::episode_event> seen;
  using kind = run::episode_event::kind;
  while (seen.size() < most_events) {
    auto polled = with.poll(std::chrono::milliseconds(with.running() > 0 ? 10'000 : 0));
    if (!polled || !*polled) return seen;
    const auto& event = seen.emplace_back(*std::move(*polled));
    auto& task = tasks.at(event.episode);
    result<void> answered;
    if (event.what == kind::stopped) answered = with.end(event.episode, "");
    if (event.what == kind::replied) {
      auto next = task.react(event.reply);
      answered =
          next.empty() ? with.end(event.episode, task.outcome()) : with.next(event.episode, std::move(next));
    }
    if (!answered) return {};
  }
  return seen;
}

}  // namespace evalcore::test
