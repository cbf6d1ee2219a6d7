#include "backend/prompt_scorer.hpp"

#include <utility>

#include <evalcore/wire/openai_completions.hpp>

namespace evalcore::backend {
namespace {

chat::loglikelihood_request after_counting(const char* continuation) {
  return {.context = "one two three four five six", .continuation = continuation};
}

/// A server's refusal means that it cannot; other failures say nothing about what it can.
error as_inability(error why) {
  if (why.code == errc::invalid_request || why.code == errc::bad_reply) {
    why.message = "the server answers no text completion with the logprobs of its prompt (" + why.message +
                  "): choices cannot be scored by likelihood on it";
    why.code = errc::unsupported;
  }
  return why;
}

}  // namespace

chat::loglikelihood_request scoring_of(const chat::request& request, std::size_t choice) {
  return {.model = request.model,
          .context = request.messages.front().text,
          .continuation = request.choices[choice],
          .hints = request.hints};
}

result<void> judge_prompt_logprobs(const result<chat::loglikelihood>& one,
                                   const result<chat::loglikelihood>& other) {
  for (const auto* got : {&one, &other}) {
    if (!*got) return as_inability(got->error());
  }
  if (one->sum_logprob != other->sum_logprob) return {};
  return fail(errc::unsupported, stage::decode,
              "the server finds two different continuations equally likely, so what it returns are not the "
              "logprobs of the prompt: choices cannot be scored by likelihood on it");
}

prompt_scorer::prompt_scorer(const wire::dialect& ways, std::string model, poster post)
    : ways_(ways), model_(std::move(model)), post_(std::move(post)) {}

result<void> prompt_scorer::check_turn(const chat::request& request) {
  if (request.messages.size() == 1) return {};
  return fail(errc::invalid_argument, stage::send,
              "choices follow the text of one turn: send them with one message");
}

result<void> prompt_scorer::check(const chat::request& request) const {
  if (auto fit = check_turn(request); !fit) return fit;
  for (std::size_t at = 0; at < request.choices.size(); ++at) {
    const auto asked = chat::completion_for(scoring_of(request, at));
    if (!asked) return asked.error();
    if (auto written = wire::encode_openai_completion(*asked, ways_, false); !written)
      return std::move(written).error();
  }
  return {};
}

void prompt_scorer::send(const chat::loglikelihood_request& request,
                         std::function<void(result<chat::loglikelihood>)> done) {
  auto asked = chat::completion_for(request);
  if (!asked) return done(asked.error());
  if (asked->model.empty()) asked->model = model_;
  auto written = wire::encode_openai_completion(*asked, ways_, false);
  if (!written) return done(written.error());
  post_("/v1/completions", std::move(written->body),
        [this, request, done = std::move(done)](result<std::string> body) {
          if (!body) return done(std::move(body).error());
          const auto reply = wire::decode_openai_completion(*body, ways_);
          done(reply ? chat::read_loglikelihood(request, *reply) : reply.error());
        });
}

void prompt_scorer::prove(std::function<void(result<void>)> done) {
  if (proof_) return done(*proof_);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  send(after_counting(" seven"), [this](const result<chat::loglikelihood>& likely) {
    if (!likely) return settle(judge_prompt_logprobs(likely, likely));
    send(after_counting(" zebra"), [this, likely](const result<chat::loglikelihood>& unlikely) {
      settle(judge_prompt_logprobs(likely, unlikely));
    });
  });
}

void prompt_scorer::settle(const result<void>& proof) {
  if (proof || proof.error().code == errc::unsupported) proof_ = proof;
  for (const auto& done : std::exchange(waiting_, {})) done(proof);
}

void prompt_scorer::score(const chat::loglikelihood_request& request,
                          std::function<void(result<chat::loglikelihood>)> done) {
  prove([this, request, done = std::move(done)](result<void> proved) {
    if (!proved) return done(std::move(proved).error());
    send(request, done);
  });
}

}  // namespace evalcore::backend
