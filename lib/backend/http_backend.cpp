#include <evalcore/backend/http_backend.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <evalcore/wire/openai_chat.hpp>

#include "backend/http_chat.hpp"
#include "backend/server_advice.hpp"
#include "backend/server_facts.hpp"

namespace evalcore::backend {
namespace {

constexpr std::string_view models_path = "/v1/models";
constexpr std::size_t most_named = 5;

/// "connection refused" out of "cannot connect to 127.0.0.1:9: connection refused".
std::string cause_of(const error& failure) {
  const auto cut = failure.message.rfind(": ");
  return cut == std::string::npos ? failure.message : failure.message.substr(cut + 2);
}

/// The same failure as a sentence about a server that was to be there.
error unreachable(error failure, const endpoint& at) {
  if (failure.code != errc::transport && failure.code != errc::timeout) return failure;
  failure.message = "cannot reach " + at.name() + ": " + cause_of(failure) + "; is the server running?";
  failure.at = stage::start;
  return failure;
}

error not_ready(const http_answer& answer, const endpoint& at, std::string_view path,
                const http_options& how) {
  auto why = at.without_secrets(wire::classify_openai_error(answer.head.status, answer.body, *how.ways));
  why.at = stage::start;
  take_advice(why, answer.head, std::chrono::system_clock::now());
  const std::string said = at.name() + " answers HTTP " + std::to_string(answer.head.status);
  if (answer.head.status == 200) why.code = errc::overloaded;  // It is there, and says that it is not ready.
  if (why.code == errc::auth) {
    const auto source = at.opened->key_source();
    why.message = said + (source.empty() ? "; it wants an API key" : "; it refuses " + source);
  } else if (why.code == errc::rate_limited) {
    why.message = said + ": it has had too many requests";
  } else if (why.code == errc::overloaded) {
    why.message = said + ": it is busy or still loading; try again when it is ready";
  } else {
    why.message = said + " to GET " + std::string(path) + "; is it a server of this API?";
  }
  return why;
}

bool is_ok(const http_answer& answer) { return answer.head.status == 200; }

/// GET `path`, until the answer is `good` or the patience is at its end.
result<http_answer> fetch(server_link& link, std::string_view path, const http_options& how,
                          const std::stop_token& stop, const std::function<bool(const http_answer&)>& good) {
  return ask_patiently(how.again, stop, [&]() -> result<http_answer> {
    auto request = link.at().get(path);
    request.deadlines = short_deadlines(how.deadlines);
    auto answer = link.fetch_and_wait(std::move(request), stop);
    if (!answer) return unreachable(std::move(answer).error(), link.at());
    if (!good(*answer)) return not_ready(*answer, link.at(), path, how);
    return answer;
  });
}

/// GET `path`; the body of a 200.
result<std::string> ask(server_link& link, std::string_view path, const http_options& how,
                        const std::stop_token& stop) {
  auto answer = fetch(link, path, how, stop, is_ok);
  if (!answer) return answer.error();
  return std::move(answer->body);
}

result<std::string> only_model(const std::vector<listed_model>& listed, const endpoint& at) {
  if (listed.size() == 1) return listed.front().id;
  std::string names;
  for (std::size_t index = 0; index < listed.size() && index < most_named; ++index) {
    names += (names.empty() ? "" : ", ") + listed[index].id;
  }
  if (listed.size() > most_named) names += ", …";
  const std::string count =
      listed.empty() ? "no model" : std::to_string(listed.size()) + " models (" + names + ")";
  return at.without_secrets(
      fail(errc::invalid_argument, stage::start, at.name() + " lists " + count + "; name one with --model"));
}

result<std::string> find_model(server_link& link, const http_answer& ready, const http_options& how,
                               const std::stop_token& stop) {
  const auto list = how.ways->ready.path == models_path && ready.head.status == 200
                        ? result<std::string>(ready.body)
                        : ask(link, models_path, how, stop);
  if (!list) return list.error();
  const auto models = read_model_list(*list);
  if (!models) return models.error();
  return only_model(*models, link.at());
}

error no_responses(const wire::dialect& ways) {
  return fail(
      errc::invalid_argument, stage::config,
      "the Responses API is of no use with the dialect \"" + std::string(ways.name) +
          "\": its server has none, or one that an evaluation cannot rely on; ask it with --api chat");
}

/// What a server says of itself is stored with every result.
bool tells_secrets(const info& about, const endpoint& at) {
  const auto tells = [&](const std::string& said) { return at.without_secrets(said) != said; };
  return tells(about.model) ||
         std::ranges::any_of(about.identity, [&](const auto& one) { return tells(one.second); });
}

/// What sets the two kinds of URL apart.
struct kind {
  const char* selector;
  const char* dialect;
  credentials::placement key;
  bool messages;
};

constexpr kind openai{"openai-url", "generic", credentials::placement::bearer, false};
constexpr kind anthropic{"anthropic-url", "anthropic", credentials::placement::x_api_key, true};

result<std::unique_ptr<backend>> connect(net::loop& owner, const http_options& asked, const kind& what,
                                         const std::stop_token& stop) {
  auto how = asked;
  if (how.ways == nullptr) how.ways = wire::find_dialect(what.dialect);
  const bool responses = !what.messages && how.api == openai_api::responses;
  if (responses && how.ways->responses == wire::trait::no) return no_responses(*how.ways);
  auto at = read_endpoint(how.base_url);
  if (!at) return at.error();
  auto opened = access::open(how.opens, what.key, stop);
  if (!opened) return opened.error();
  at->opened = *std::move(opened);
  if (what.messages) at->headers = {{"anthropic-version", std::string(wire::name(how.version))}};
  auto link = std::make_unique<server_link>(owner, *std::move(at), how.tls);

  const auto ready = fetch(*link, how.ways->ready.path, how, stop, [&](const http_answer& answer) {
    return wire::says_ready(*how.ways, answer.head.status, answer.body);
  });
  if (!ready) return ready.error();
  info about;
  about.selector = what.selector;
  about.address = link->at().name();
  about.dialect = how.ways->name;
  about.model = how.model.empty() ? how.ways->start.sent_model : how.model;
  if (about.model.empty()) {
    auto model = find_model(*link, *ready, how, stop);
    if (!model) return model.error();
    about.model = *std::move(model);
  }
  about.sent_model = about.model;
  about.identity = {{"selector", about.selector}, {"dialect", about.dialect}, {"model", about.model}};
  if (responses) about.identity["api"] = "responses";
  if (!what.messages && how.api == openai_api::completions) about.identity["api"] = "completions";
  if (how.ways->reports_slots) {
    const auto props = ask(*link, "/props", how, stop);
    if (!props) return props.error();
    if (auto read = read_props(*props, about); !read) return read.error();
  }
  if (tells_secrets(about, link->at())) {
    return fail(errc::bad_reply, stage::start,
                link->at().name() +
                    " repeats a secret of this client in what it says of itself; name the "
                    "model with --model, or ask another server");
  }
  http_chat_options ways;
  ways.ways = how.ways;
  if (what.messages) ways.messages = how.version;
  ways.api = how.api;
  ways.deadlines = how.deadlines;
  ways.stream = how.stream;
  return std::unique_ptr<backend>(std::make_unique<http_chat>(std::move(link), ways, std::move(about)));
}

}  // namespace

result<std::unique_ptr<backend>> connect_openai_url(net::loop& owner, const http_options& how,
                                                    std::stop_token stop) {
  return connect(owner, how, openai, stop);
}

result<std::unique_ptr<backend>> connect_anthropic_url(net::loop& owner, const http_options& how,
                                                       std::stop_token stop) {
  return connect(owner, how, anthropic, stop);
}

}  // namespace evalcore::backend
