#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/loglikelihood.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::backend {

/// Scores continuations through OpenAI's text completions, once the server has shown that it can. Lives on
/// the loop; whoever posts for it must end every call before it is destroyed.
class prompt_scorer {
 public:
  /// Sends a body to a path and gives the body of a 200, or the error.
  using poster = std::function<void(const char*, std::string, std::function<void(result<std::string>)>)>;

  /// `ways` must outlive it. Requests that name no model get `model`.
  prompt_scorer(const wire::dialect& ways, std::string model, poster post);

  /// Whether the choices of this request could be sent to such a server. Errors: unsupported where the
  /// server is known to return no logprobs of a prompt; invalid_argument for what is no prompt with choices.
  [[nodiscard]] result<void> check(const chat::request& request) const;

  /// Whether its choices follow the text of one turn. Errors: invalid_argument.
  [[nodiscard]] static result<void> check_turn(const chat::request& request);

  void prove(std::function<void(result<void>)> done);
  void score(const chat::loglikelihood_request& request,
             std::function<void(result<chat::loglikelihood>)> done);

 private:
  void send(const chat::loglikelihood_request& request,
            std::function<void(result<chat::loglikelihood>)> done);
  void settle(const result<void>& proof);

  const wire::dialect& ways_;
  const std::string model_;
  const poster post_;
  std::optional<result<void>> proof_;  ///< Absent: not asked yet, or asked in vain.
  std::vector<std::function<void(result<void>)>> waiting_;
};

/// One choice of a request that check() has passed.
[[nodiscard]] chat::loglikelihood_request scoring_of(const chat::request& request, std::size_t choice);

/// What two continuations of one context prove, of which no model finds both equally likely.
[[nodiscard]] result<void> judge_prompt_logprobs(const result<chat::loglikelihood>& one,
                                                 const result<chat::loglikelihood>& other);

}  // namespace evalcore::backend
