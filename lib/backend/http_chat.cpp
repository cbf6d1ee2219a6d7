#include "backend/http_chat.hpp"

#include <random>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "backend/server_advice.hpp"
#include "backend/server_facts.hpp"

namespace evalcore::backend {
namespace {

ability known(bool yes) { return yes ? ability::yes : ability::no; }

ability known(wire::trait of) {
  switch (of) {
    case wire::trait::yes:
      return ability::yes;
    case wire::trait::no:
      return ability::no;
    case wire::trait::unknown:
      break;
  }
  return ability::unknown;
}

/// A name that no other client of the same server uses.
std::string private_name() {
  constexpr std::string_view letters = "0123456789abcdef";
  std::random_device entropy;
  std::string name = "evalcore-";
  for (int count = 0; count < 16; ++count) name += letters[entropy() % letters.size()];
  return name;
}

error unreadable(const char* what) {
  return fail(errc::bad_reply, stage::decode, "the server's answer has no " + std::string(what));
}

result<std::vector<token>> read_tokens(std::string_view body) {
  const auto answer = json::parse(body);
  const auto* list = answer ? answer->find("tokens") : nullptr;
  if (list == nullptr || list->if_array() == nullptr) return unreadable("list of tokens");
  std::vector<token> tokens;
  tokens.reserve(list->if_array()->size());
  for (const auto& one : *list->if_array()) {
    const auto* number = one.if_int();
    if (number == nullptr || *number < 0 || *number > INT32_MAX) return unreadable("list of tokens");
    tokens.push_back(static_cast<token>(*number));
  }
  return tokens;
}

}  // namespace

http_chat::http_chat(std::unique_ptr<server_link> link, http_chat_options how, info about)
    : link_(std::move(link)),
      how_(std::move(how)),
      format_(*how_.ways, how_.messages, how_.api),
      info_(std::move(about)),
      slot_file_(private_name()),
      scorer_(*how_.ways, info_.sent_model,
              [this](const char* path, std::string body, auto done) {
                call(path, std::move(body), std::move(done));
              }),
      choosing_(link_->loop(), scorer_, info_.model) {}

// Open requests end in `closed` here, while all that their ends touch is alive.
http_chat::~http_chat() {
  link_->loop().run_and_wait([this] { link_.reset(); });
}

capabilities http_chat::can() const {
  const auto& ways = *how_.ways;
  const bool pins = ways.slot_pinning && !how_.messages;  // Anthropic's format has no place for a slot.
  return {
      .tokenize = known(ways.tokenizes),
      .slot_pinning = known(pins),
      .share_prefix = pins && ways.slot_save_restore ? how_.share_prefix : ability::no,
      .tools = ability::unknown,
      .cached_tokens = known(ways.reports_cached_tokens),
      .prompt_logprobs = how_.messages ? ability::no : known(ways.prompt_logprobs),
  };
}

chat::request http_chat::named(const chat::request& request) const {
  auto copy = request;
  if (copy.model.empty()) copy.model = info_.sent_model;
  return copy;
}

result<void> http_chat::check(const chat::request& request) const {
  if (!request.choices.empty() && !how_.messages) return scorer_.check(request);
  if (auto written = format_.encode(request, how_.stream); !written) return std::move(written).error();
  return {};
}

ticket http_chat::start(const chat::request& request, std::shared_ptr<sink> to) {
  const ticket which = next_++;
  if (!request.choices.empty() && !how_.messages) {
    choosing_.start(which, request, std::move(to));
    return which;
  }
  auto written = request.model.empty() ? format_.encode(named(request), how_.stream)
                                       : format_.encode(request, how_.stream);
  if (!written) {
    link_->loop().post([to = std::move(to), why = written.error()] { to->on_end(why); });
    return which;
  }
  auto& one = open_[which];
  one.state = std::make_shared<chat_exchange>(link_->at(), format_, how_.stream, std::move(to),
                                              [this, which] { drop(which); });
  one.state->note_request(std::move(written->dropped), format_.begun(request));
  auto message = link_->at().post(format_.path(), std::move(written->body));
  message.deadlines = how_.deadlines;
  message.time_arrivals = how_.stream;
  one.exchange = link_->start(std::move(message), one.state);
  return which;
}

void http_chat::drop(ticket which) {
  const auto gone = open_.extract(which);
  // Without effect when the answer was read to its end; else it closes the socket.
  if (gone && link_) link_->cancel(gone.mapped().exchange);
}

void http_chat::cancel(ticket which) {
  if (choosing_.cancel(which)) return;
  const auto found = open_.find(which);
  if (found == open_.end()) return;
  auto to = found->second.state->abandon();
  drop(which);
  link_->loop().post(
      [to = std::move(to)] { to->on_end(fail(errc::cancelled, stage::body, "the request was cancelled")); });
}

void http_chat::call(const char* path, std::string body, std::function<void(result<std::string>)> done) {
  auto message = link_->at().post(path, std::move(body));
  message.deadlines = how_.deadlines;
  link_->fetch(std::move(message), [this, done = std::move(done)](result<http_answer> answer) {
    if (!answer) return done(std::move(answer).error());
    if (answer->head.status == 200) return done(std::move(answer->body));
    auto why = format_.classify(answer->head.status, answer->body);
    take_advice(why, answer->head, std::chrono::system_clock::now());
    done(link_ ? link_->at().without_secrets(std::move(why)) : std::move(why));
  });
}

bool http_chat::is_plain(const chat::request& request) const noexcept {
  const bool plain = !request.choices.empty() || (how_.api == openai_api::completions && !how_.messages);
  return plain && request.messages.size() == 1;
}

void http_chat::render(const chat::request& request, std::function<void(result<std::string>)> done) {
  if (is_plain(request)) {
    return link_->loop().post([done = std::move(done), text = request.messages.front().text] { done(text); });
  }
  if (!how_.ways->tokenizes) return backend::render(request, std::move(done));
  // The very body of the chat request: what shapes the prompt there shapes it here.
  auto written = wire::encode_openai_chat(named(request), *how_.ways, false);
  if (!written) return done(std::move(written).error());
  call("/apply-template", std::move(written->body), [done = std::move(done)](result<std::string> body) {
    if (!body) return done(std::move(body).error());
    const auto answer = json::parse(*body);
    const auto* prompt = answer ? answer->find("prompt") : nullptr;
    if (prompt == nullptr || prompt->if_string() == nullptr) return done(unreadable("prompt"));
    done(*prompt->if_string());
  });
}

void http_chat::tokenize(const chat::request& request, std::function<void(result<std::vector<token>>)> done) {
  if (!how_.ways->tokenizes) return backend::tokenize(request, std::move(done));
  if (is_plain(request)) {
    return tokenize_text(request.messages.front().text, std::move(done));
  }
  render(request, [this, done = std::move(done)](result<std::string> prompt) {
    if (!prompt) return done(std::move(prompt).error());
    tokenize_text(*prompt, done);
  });
}

void http_chat::tokenize_text(std::string_view text, std::function<void(result<std::vector<token>>)> done) {
  json::writer out;
  out.begin_object().key("content").string(text);
  out.key("add_special").boolean(true).key("parse_special").boolean(true).end_object();
  call("/tokenize", out.take(), [done = std::move(done)](result<std::string> body) {
    if (!body) return done(std::move(body).error());
    done(read_tokens(*body));
  });
}

void http_chat::share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                             std::function<void(result<void>)> done) {
  if (!how_.ways->slot_save_restore || how_.share_prefix == ability::no) {
    return backend::share_prefix(from, std::move(to), std::move(done));
  }
  // A slot's later saves take the place of its earlier ones, so that the folder stays small.
  const std::string file = slot_file_ + "-" + std::to_string(from) + ".bin";
  const std::string path = "/slots/" + std::to_string(from) + "?action=save";
  json::writer out;
  out.begin_object().key("filename").string(file).end_object();
  call(path.c_str(), out.take(),
       [this, to = std::move(to), file, done = std::move(done)](result<std::string> saved) {
         if (!saved) return done(std::move(saved).error());
         restore(to, 0, file, done);
       });
}

void http_chat::restore(std::vector<std::uint32_t> into, std::size_t at, const std::string& file,
                        std::function<void(result<void>)> done) {
  if (at == into.size()) return done({});
  const std::string path = "/slots/" + std::to_string(into[at]) + "?action=restore";
  json::writer out;
  out.begin_object().key("filename").string(file).end_object();
  call(path.c_str(), out.take(),
       [this, into, at, file, done = std::move(done)](result<std::string> restored) {
         if (!restored) return done(std::move(restored).error());
         restore(into, at + 1, file, done);
       });
}

void http_chat::count_prompt(const chat::request& request, std::function<void(result<std::string>)> done) {
  auto small = request;
  small.params.max_tokens = 1;
  auto written = format_.encode(named(small), false);
  if (!written) return done(std::move(written).error());
  call(format_.path(), std::move(written->body), [this, done = std::move(done)](result<std::string> body) {
    if (!body) return done(std::move(body).error());
    const auto reply = format_.decode(*body);
    if (!reply) return done(reply.error());
    if (!reply->usage.prompt_tokens) {
      return done(fail(errc::unsupported, stage::decode,
                       "the server reports no prompt tokens, so whether tools reach the model is unknown"));
    }
    done(std::to_string(*reply->usage.prompt_tokens));
  });
}

void http_chat::check_tools(const std::vector<chat::tool>& tools, std::function<void(result<bool>)> done) {
  if (how_.ways->ignores_field("tools")) {
    return link_->loop().post([done = std::move(done)] { done(false); });
  }
  chat::request without;
  without.messages.emplace_back();
  without.messages.back().text = "hi";
  without.params.temperature = 0;
  auto with = without;
  with.tools = tools;
  const auto look = [this](const chat::request& request, std::function<void(result<std::string>)> seen) {
    how_.ways->tokenizes ? render(request, std::move(seen)) : count_prompt(request, std::move(seen));
  };
  look(without, [look, with, done = std::move(done)](result<std::string> plain) {
    if (!plain) return done(std::move(plain).error());
    look(with, [plain = *std::move(plain), done](result<std::string> declared) {
      if (!declared) return done(std::move(declared).error());
      done(*declared != plain);
    });
  });
}

void http_chat::loglikelihood(const chat::loglikelihood_request& request,
                              std::function<void(result<chat::loglikelihood>)> done) {
  if (how_.messages) return backend::loglikelihood(request, std::move(done));
  scorer_.score(request, std::move(done));
}

void http_chat::check_prompt_logprobs(std::function<void(result<void>)> done) {
  if (how_.messages) return backend::check_prompt_logprobs(std::move(done));
  scorer_.prove(std::move(done));
}

void http_chat::list_models(std::function<void(result<std::vector<listed_model>>)> done) {
  fetch(link_->at().get("/v1/models"), [done = std::move(done)](result<raw_answer> answer) {
    if (!answer) return done(std::move(answer).error());
    done(read_model_list(answer->body));
  });
}

void http_chat::ask(const chat::request& request, const json::object& more,
                    std::function<void(result<raw_answer>)> done) {
  if (format_.path() != std::string_view("/v1/chat/completions"))
    return backend::ask(request, more, std::move(done));
  const auto written = format_.encode(named(request), false);
  if (!written) return done(written.error());
  auto body = json::parse(written->body);
  if (!body) return done(body.error());
  body->if_object()->insert(body->if_object()->end(), more.begin(), more.end());
  fetch(link_->at().post(format_.path(), json::to_text(*body)), std::move(done));
}

void http_chat::fetch(net::http_request message, std::function<void(result<raw_answer>)> done) {
  message.deadlines = how_.deadlines;
  link_->fetch(std::move(message), [this, done = std::move(done)](result<http_answer> answer) {
    if (!answer) return done(std::move(answer).error());
    raw_answer got{answer->head.status, std::move(answer->body)};
    if (link_) got.body = link_->at().without_secrets(std::move(got.body));
    done(std::move(got));
  });
}

}  // namespace evalcore::backend
