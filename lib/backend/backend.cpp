#include <evalcore/backend/backend.hpp>

#include "backend/cannot_choose.hpp"

namespace evalcore::backend {
namespace {

error cannot(const info& who, const char* what) {
  return fail(errc::unsupported, stage::start, "the backend " + who.selector + " cannot " + what);
}

}  // namespace

result<void> backend::check(const chat::request& request) const {
  if (!request.choices.empty()) return cannot_score_choices();
  return {};
}

void backend::render(const chat::request& /*request*/, std::function<void(result<std::string>)> done) {
  done(cannot(about(), "tell the text that its model sees"));
}

void backend::tokenize(const chat::request& /*request*/,
                       std::function<void(result<std::vector<token>>)> done) {
  done(cannot(about(), "tokenize"));
}

void backend::share_prefix(std::uint32_t /*from*/, std::vector<std::uint32_t> /*to*/,
                           std::function<void(result<void>)> done) {
  done(cannot(about(), "share a prefix between slots"));
}

void backend::check_tools(const std::vector<chat::tool>& /*tools*/, std::function<void(result<bool>)> done) {
  done(cannot(about(), "tell whether tools reach the model"));
}

void backend::loglikelihood(const chat::loglikelihood_request& /*request*/,
                            std::function<void(result<chat::loglikelihood>)> done) {
  done(cannot(about(), "tell how likely a continuation is"));
}

void backend::check_prompt_logprobs(std::function<void(result<void>)> done) {
  done(cannot(about(), "tell how likely a continuation is"));
}

void backend::list_models(std::function<void(result<std::vector<listed_model>>)> done) {
  done(cannot(about(), "list models"));
}

void backend::ask(const chat::request& /*request*/, const json::object& /*more*/,
                  std::function<void(result<raw_answer>)> done) {
  done(cannot(about(), "be asked in OpenAI's chat completions, which alone have such fields"));
}

}  // namespace evalcore::backend
