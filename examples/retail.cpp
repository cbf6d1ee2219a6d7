// A shop's agent with a simulated customer, as in tau-bench's retail domain: a host of episodes.
//
//   retail URL STORE TRACES TASKS IN_FLIGHT
//
// plays TASKS customers against the OpenAI-compatible server at URL, IN_FLIGHT at a time, writes the traces
// and prints what it came to. Killed and run again it goes on where it was.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/run/episode_trace.hpp>
#include <evalcore/run/episodes.hpp>
#include <evalcore/run/store.hpp>

using namespace evalcore;

namespace {

chat::message says(chat::role who, std::string text) {
  chat::message turn;
  turn.who = who;
  turn.text = std::move(text);
  return turn;
}

/// The customer, the shop's data and its tools. The agent answers with one action, as JSON, which a server
/// can make any model do.
class customer {
 public:
  explicit customer(int number)
      : order_("W" + std::to_string(number)), status_(number % 3 == 0 ? "delivered" : "pending") {}

  [[nodiscard]] chat::request first() const {
    chat::request request;
    request.messages = {
        says(chat::role::system,
             "You are the agent of a shop. An order that was delivered can only be exchanged."),
        says(chat::role::user, "Please cancel my order " + order_ + ".")};
    request.params.temperature = 0;
    request.params.max_tokens = 64;
    request.params.format = chat::response_format{
        .how = chat::response_format::kind::json_schema,
        .name = "action",
        .schema = R"({"type":"object","properties":{"action":{"enum":["look_up","cancel","exchange","say"]},)"
                  R"("words":{"type":"string","maxLength":8}},"required":["action","words"]})"};
    return request;
  }

  /// What follows a reply: a tool's result or the customer's words; nothing when the conversation is over.
  [[nodiscard]] std::vector<chat::message> react(const chat::reply& reply) {
    const auto action = json::parse(reply.text);
    const auto member = [&](const char* name) {
      const auto* found = action ? action->find(name) : nullptr;
      const auto* text = found != nullptr ? found->if_string() : nullptr;
      return text != nullptr ? *text : std::string();
    };
    const auto what = member("action");
    const bool settled = status_ != "pending" && status_ != "delivered";
    if (settled) return {};  // The customer has heard it and leaves.
    if (what == "say") return {says(chat::role::user, "\"" + member("words") + "\"? Cancel it.")};
    if (what == "cancel" && status_ == "pending") status_ = "cancelled";
    if (what == "exchange" && status_ == "delivered") status_ = "exchanged";
    return {says(chat::role::tool, order_ + " is " + status_ + ". Note: " + member("words"))};
  }
  /// tau-bench's reward: the order is as it should be.
  [[nodiscard]] std::string outcome() const {
    return std::string(R"({"reward":)") + (status_ == "pending" || status_ == "delivered" ? "0" : "1") +
           R"(,"status":")" + status_ + "\"}";
  }

 private:
  std::string order_;
  std::string status_;
};

result<void> play(run::episodes& episodes, int tasks) {
  std::map<run::episode_number, customer> customers;
  for (int number = 0; number < tasks; ++number) {
    customer one(number);
    auto begun = episodes.begin("customer" + std::to_string(number), one.first());
    if (!begun) return std::move(begun).error();
    customers.emplace(*begun, one);
  }
  using kind = run::episode_event::kind;
  while (episodes.running() > 0) {
    auto polled = episodes.poll(std::chrono::seconds(1));
    if (!polled) return std::move(polled).error();
    if (!*polled) continue;
    const auto& event = **polled;
    auto& one = customers.at(event.episode);
    result<void> answered;
    if (event.what == kind::replied) {
      auto turns = one.react(event.reply);
      answered = turns.empty() ? episodes.end(event.episode, one.outcome())
                               : episodes.next(event.episode, std::move(turns));
    } else if (event.what == kind::stopped) {
      answered = episodes.end(event.episode, one.outcome());
    }
    if (!answered) return answered;
  }
  return {};
}

result<void> run_all(const std::string& url, const std::string& store_path, const std::string& traces_path,
                     int tasks, unsigned in_flight) {
  net::loop loop;
  backend::http_options server;
  server.base_url = url;
  server.ways = wire::find_dialect("llama-server");
  auto backend = backend::connect_openai_url(loop, server);
  if (!backend) return std::move(backend).error();
  auto store = run::store::open(store_path);
  if (!store) return std::move(store).error();

  run::episode_options how;
  how.suite = "retail example 1";
  how.pool.max_in_flight = in_flight;
  how.limits.turns = 6;
  auto episodes = run::episodes::open(loop, {backend->get()}, *store, how);
  if (!episodes) return std::move(episodes).error();
  if (auto played = play(**episodes, tasks); !played) return played;
  const auto figures = (*episodes)->finish();
  if (!figures) return figures.error();
  episodes->reset();  // The store is free again.

  std::printf("%s\n", json::to_text(json::object{{"sent", figures->sent},
                                                 {"reused", figures->reused},
                                                 {"finished_before", figures->finished_before},
                                                 {"paid_twice", figures->possibly_paid_twice}})
                          .c_str());
  std::ofstream traces(traces_path);
  return run::write_episode_traces(*store, how.suite, traces);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: retail URL STORE TRACES TASKS IN_FLIGHT\n");
    return 2;
  }
  const auto done = run_all(arguments[1], arguments[2], arguments[3], std::atoi(arguments[4]),
                            static_cast<unsigned>(std::atoi(arguments[5])));
  if (!done) std::fprintf(stderr, "retail: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
