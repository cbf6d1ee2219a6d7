#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/clock.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/net/loop.hpp>

#include "backend/prompt_scorer.hpp"

namespace evalcore::backend {

/// Requests with choices that a server scores; the choices of a request one after another, so that it is one
/// request in flight. Lives on the loop.
class served_choices {
 public:
  /// `owner` and `by` must outlive it. `model`: of the replies.
  served_choices(net::loop& owner, prompt_scorer& by, std::string model)
      : loop_(owner), scorer_(by), model_(std::move(model)) {}

  void start(ticket which, const chat::request& request, std::shared_ptr<sink> to);
  /// False: it is none of these, or it has ended. What is out with the server is answered in vain.
  bool cancel(ticket which);

 private:
  struct under_way {
    chat::request asked;
    std::shared_ptr<sink> to;
    instant began;
    std::vector<chat::loglikelihood> scores = {};
  };

  void score_next(ticket which);
  void end(ticket which, const error& why);

  net::loop& loop_;
  prompt_scorer& scorer_;
  const std::string model_;
  std::unordered_map<ticket, under_way> open_;
  ticket starting_ = 0;  ///< Whose end may not be told during the call.
};

}  // namespace evalcore::backend
