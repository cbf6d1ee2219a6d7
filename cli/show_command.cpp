#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/backend/chat_call.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/run/item_view.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "printable.hpp"
#include "run_store.hpp"
#include "show_text.hpp"

namespace evalcore::cli {
namespace {

/// The command line that made a run, as the store has it; empty where something else made it.
std::vector<std::string> stored_line(const std::string& options_json) {
  std::vector<std::string> out;
  const auto root = json::parse(options_json);
  const auto* held = root ? root->find("arguments") : nullptr;
  const auto* words = held != nullptr ? held->if_array() : nullptr;
  if (words == nullptr || words->empty() || words->front() != json::value("run")) return out;
  out.emplace_back("evalcore");
  for (const auto& one : *words) {
    if (const auto* word = one.if_string()) out.push_back(*word);
  }
  return out;
}

error no_backend(const std::string& why) {
  return fail(errc::invalid_argument, stage::config, why + "; name a backend as for `evalcore run`");
}

/// Whom the run asked.
result<backend_arguments> backend_of_run(const run::item_view& of) {
  auto line = stored_line(of.options_json);
  if (line.empty()) return no_backend("the run was not made by `evalcore run`, so its backend is not known");
  std::vector<char*> words;
  for (auto& one : line) words.push_back(one.data());
  const auto parsed = parse_arguments(static_cast<int>(words.size()), words.data());
  const auto* run = std::get_if<run_arguments>(&parsed);
  if (run == nullptr) return no_backend("the command line of the run cannot be read any more");
  return run->backend;
}

/// A store keeps no values of secrets.
bool lacks_secrets(const run::item_view& of) {
  for (const auto& word : stored_line(of.options_json)) {
    if (word.ends_with("***")) return true;
  }
  return false;
}

class answer_sink final : public backend::sink {
 public:
  void on_end(result<chat::reply> outcome) override { came_.set_value(std::move(outcome)); }
  [[nodiscard]] std::future<result<chat::reply>> future() { return came_.get_future(); }

 private:
  std::promise<result<chat::reply>> came_;
};

/// Absent where the backend does not tell.
std::optional<std::string> rendered(net::loop& loop, backend::backend& who, const chat::request& request) {
  auto came = std::make_shared<std::promise<result<std::string>>>();
  auto text = came->get_future();
  loop.post([&who, request, came] {
    who.render(request, [came](result<std::string> prompt) { came->set_value(std::move(prompt)); });
  });
  auto prompt = text.get();
  return prompt ? std::optional(*std::move(prompt)) : std::nullopt;
}

result<chat::reply> ask_once(net::loop& loop, backend::backend& who, const chat::request& request,
                             const std::stop_token& stop) {
  auto sink = std::make_shared<answer_sink>();
  auto reply = sink->future();
  backend::ticket ticket = 0;
  loop.run_and_wait([&] { ticket = who.start(request, sink); });
  std::optional<result<chat::reply>> came;
  {
    const std::stop_callback give_up(stop, [&] { loop.post([&who, ticket] { who.cancel(ticket); }); });
    came = reply.get();
  }
  // What was posted meanwhile refers to the backend.
  loop.run_and_wait([] {});
  return *std::move(came);
}

result<resent_reply> resend(const run::item_view& of, const backend_arguments& how,
                            const std::stop_token& stop) {
  net::loop loop;
  auto opened = open_backend(loop, how, {}, stop);
  if (!opened) return std::move(opened).error();
  auto& who = **opened;
  const auto& about = who.about();
  if (about.identity != of.identity) {
    std::fprintf(stderr, "evalcore: this is another backend than the run's, or it has changed since\n");
  }
  auto request = of.request;
  // The slot is the run's choice; here it would only wait for it.
  request.hints.slot.reset();
  resent_reply out;
  out.answered_by = about.selector + ", model " + about.model;
  out.prompt = rendered(loop, who, request);
  auto reply = ask_once(loop, who, request, stop);
  if (!reply) return std::move(reply).error();
  out.reply = *std::move(reply);
  out.verdict = run::score_again(of, out.reply);
  return out;
}

json::value reply_json(const chat::reply& of) {
  json::array calls;
  for (const auto& one : of.calls)
    calls.push_back(json::object{{"id", one.id}, {"name", one.name}, {"arguments", one.arguments}});
  return json::object{{"text", of.text},
                      {"reasoning", of.reasoning},
                      {"calls", std::move(calls)},
                      {"finish", chat::name(of.finish)}};
}

void print_json(const run::item_view& of, const result<backend::chat_call>& call, const resent_reply* again) {
  auto root = to_json(of);
  auto& members = *root.if_object();
  members.emplace_back(
      "http", call ? json::value(json::object{{"path", call->path}, {"body", call->body}}) : json::value());
  if (again == nullptr) {
    members.emplace_back("resent", nullptr);
  } else {
    const auto& what = again->verdict;
    const run::item_score state{what.scored ? run::item_state::scored : run::item_state::unscored, what.value,
                                what.reason};
    members.emplace_back("resent",
                         json::object{{"answered_by", again->answered_by},
                                      {"prompt", again->prompt ? json::value(*again->prompt) : json::value()},
                                      {"reply", reply_json(again->reply)},
                                      {"score", run::to_json(state, what)}});
  }
  std::printf("%s\n", json::to_text(root).c_str());
}

}  // namespace

result<int> show_command(const show_arguments& arguments, const std::stop_token& stop) {
  const auto of = run::view_item(store_in(arguments.run), arguments.id, arguments.suite, arguments.answers);
  if (!of) return of.error();
  const bool named = !arguments.backend.selector.empty() || !arguments.backend.base_urls.empty();
  const auto how = named ? result<backend_arguments>(arguments.backend) : backend_of_run(*of);
  const auto call = backend::chat_call_of(of->identity, of->request, how ? how->stream : true,
                                          how ? how->version : wire::anthropic_version::v2023_06_01);
  if (arguments.curl) {
    if (!call) return call.error();
    const backend::credentials none;
    const auto at = how && !how->base_urls.empty() ? how->base_urls.front() : std::string();
    std::fputs(backend::curl_command(*call, at, how ? how->opens : none).c_str(), stdout);
    return exit_status::done;
  }
  std::optional<resent_reply> again;
  if (arguments.resend) {
    if (!how) return how.error();
    if (!named && lacks_secrets(*of))
      return no_backend("the store does not keep the secrets that the run was given");
    auto came = resend(*of, *how, stop);
    if (!came) return std::move(came).error();
    again = *std::move(came);
  }
  if (arguments.json) {
    print_json(*of, call, again ? &*again : nullptr);
  } else {
    print_item(*of, call, again ? &*again : nullptr);
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
