#include "backend/served_choices.hpp"

#include <utility>

namespace evalcore::backend {

void served_choices::start(ticket which, const chat::request& request, std::shared_ptr<sink> to) {
  open_.emplace(which, under_way{request, std::move(to), std::chrono::steady_clock::now()});
  starting_ = which;
  // What is more is refused where the first choice is sent.
  if (auto fit = prompt_scorer::check_turn(request); !fit) {
    end(which, std::move(fit).error());
  } else {
    score_next(which);
  }
  starting_ = 0;
}

void served_choices::score_next(ticket which) {
  const auto found = open_.find(which);
  if (found == open_.end()) return;
  const auto& one = found->second;
  if (one.scores.size() == one.asked.choices.size()) {
    auto gone = std::move(open_.extract(which).mapped());
    chat::reply reply;
    reply.finish = chat::finish_reason::stop;
    reply.finish_raw = chat::name(reply.finish);
    reply.model = model_;
    reply.choices = std::move(gone.scores);
    reply.timing.total = std::chrono::steady_clock::now() - gone.began;
    return gone.to->on_end(std::move(reply));
  }
  scorer_.score(scoring_of(one.asked, one.scores.size()), [this, which](result<chat::loglikelihood> score) {
    const auto held = open_.find(which);
    if (held == open_.end()) return;
    if (!score) return end(which, score.error());
    held->second.scores.push_back(*score);
    score_next(which);
  });
}

void served_choices::end(ticket which, const error& why) {
  auto gone = std::move(open_.extract(which).mapped());
  if (which != starting_) return gone.to->on_end(why);
  loop_.post([to = std::move(gone.to), why] { to->on_end(why); });
}

bool served_choices::cancel(ticket which) {
  const auto gone = open_.extract(which);
  if (!gone) return false;
  loop_.post([to = gone.mapped().to] {
    to->on_end(fail(errc::cancelled, stage::body, "cancelled while its choices were scored"));
  });
  return true;
}

}  // namespace evalcore::backend
