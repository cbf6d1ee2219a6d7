#include "backend/embedded_choices.hpp"

#include <algorithm>
#include <utility>

namespace evalcore::backend {

embedded_choices::embedded_choices(const chat::request& request, std::string model, std::shared_ptr<sink> to)
    : to_(std::move(to)), scores_(request.choices.size()) {
  reply_.finish = chat::finish_reason::stop;
  reply_.finish_raw = chat::name(reply_.finish);
  reply_.model = std::move(model);
  reply_.usage = {.prompt_tokens = 0, .cached_tokens = 0, .completion_tokens = 0};
}

void embedded_choices::count(const engine::answer& whole) {
  *reply_.usage.prompt_tokens += whole.prompt_tokens;
  *reply_.usage.cached_tokens += whole.cached_tokens;
  reply_.metadata = engine::metadata(whole);
}

bool embedded_choices::came(std::size_t choice, result<chat::loglikelihood> one) {
  if (ended()) return false;
  if (!one) {
    end(std::move(one).error());
    return true;
  }
  scores_[choice] = *std::move(one);
  if (!std::ranges::all_of(scores_, [](const auto& score) { return score.has_value(); })) return false;
  for (const auto& score : scores_) reply_.choices.push_back(*score);
  reply_.timing.total = std::chrono::steady_clock::now() - began_;
  end(std::move(reply_));
  return true;
}

void embedded_choices::end(result<chat::reply> outcome) {
  if (const auto to = std::exchange(to_, nullptr)) to->on_end(std::move(outcome));
}

}  // namespace evalcore::backend
