#include "backend/embedded_scores.hpp"

#include <algorithm>
#include <string_view>

#include <evalcore/chat/context_end.hpp>

namespace evalcore::backend {
namespace {

error refuse(std::string message) { return fail(errc::invalid_argument, stage::send, std::move(message)); }

std::vector<engine::token> from_ids(const chat::token_ids& ids) { return {ids.begin(), ids.end()}; }

}  // namespace

bool scoring::takes(const chat::loglikelihood_request& other) const {
  return other.context == of_.context && other.hints.use_cache == of_.hints.use_cache &&
         other.hints.prompt_cache_key == of_.hints.prompt_cache_key &&
         other.hints.cache_salt == of_.hints.cache_salt &&
         other.hints.shared_tokens == of_.hints.shared_tokens;
}

void scoring::add(chat::prompt continuation, branches::done then) {
  waiting_.push_back({.continuation = std::move(continuation), .then = std::move(then)});
}

result<scoring::parts> scoring::cut(const chat::prompt& continuation, engine::step_engine& engine) const {
  if (continuation.index() != of_.context.index()) {
    return refuse("context and continuation are both text or both token ids");
  }
  parts made;
  if (const auto* ids = std::get_if<chat::token_ids>(&continuation)) {
    made.context = from_ids(std::get<chat::token_ids>(of_.context));
    made.continuation = from_ids(*ids);
  } else {
    const auto& context = std::get<std::string>(of_.context);
    auto before =
        engine.tokenize(std::string_view(context).substr(0, chat::size_without_end_blanks(context)), false);
    if (!before) return std::move(before).error();
    auto whole = engine.tokenize(context + std::get<std::string>(continuation), false);
    if (!whole) return std::move(whole).error();
    const auto cut = whole->begin() + static_cast<std::ptrdiff_t>(std::min(before->size(), whole->size()));
    made.context.assign(whole->begin(), cut);
    made.continuation.assign(cut, whole->end());
  }
  if (made.continuation.empty()) return refuse("the continuation is empty");
  if (made.context.empty())
    return refuse("no token stands before the continuation; send a beginning of text");
  // Here, as the engine takes all continuations of a context or none.
  const auto computed = made.context.size() + made.continuation.size() - 1;
  const auto holds = engine.about().context_tokens;
  if (holds > 0 && computed > holds)
    return fail(errc::context_overflow, stage::send,
                "context and continuation have " + std::to_string(computed) +
                    " tokens without the last, but the model holds " + std::to_string(holds) +
                    ": open it with a larger context");
  return made;
}

std::vector<branches> scoring::take(engine::step_engine& engine) {
  std::vector<branches> all;
  for (const auto& one : waiting_) {
    auto made = cut(one.continuation, engine);
    if (!made) {
      all.push_back({.failure = std::move(made).error(), .waiting = {}});
      all.back().waiting.push_back({0, one.then});
      continue;
    }
    auto same = std::ranges::find_if(
        all, [&](const branches& other) { return !other.failure && other.context == made->context; });
    if (same == all.end()) {
      all.push_back({.context = std::move(made->context)});
      same = std::prev(all.end());
    }
    same->waiting.push_back({made->continuation.size(), one.then});
    same->continuations.push_back(std::move(made->continuation));
  }
  waiting_.clear();  // Now, so that who waits is still there if an engine throws.
  return all;
}

std::vector<branches::done> scoring::give_up() {
  std::vector<branches::done> all;
  for (auto& one : std::exchange(waiting_, {})) all.push_back(std::move(one.then));
  return all;
}

void branches::answer(const result<engine::answer>& outcome) {
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    auto& one = waiting[at];
    if (!outcome) {
      one.then(outcome.error());
      continue;
    }
    const auto& score = outcome->scores[at];
    one.then(chat::loglikelihood{
        .sum_logprob = score.sum_logprob, .is_greedy = score.is_greedy, .tokens = one.tokens});
  }
}

}  // namespace evalcore::backend
