#pragma once

#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/completion.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// How likely does a model find `continuation` after `context`? Both are text or both are token ids; the
/// model reads one after the other, without anything in between.
struct loglikelihood_request {
  std::string model;  ///< Empty: the backend's default model.
  prompt context;
  prompt continuation;
  cache_hints hints;
};

/// The completion that answers it: echo, logprobs and one token, which some servers insist on generating.
/// Errors: invalid_argument for an empty continuation or text mixed with ids.
[[nodiscard]] result<completion_request> completion_for(const loglikelihood_request& request);

/// Reads the answer to completion_for(request). In text, the continuation begins with the blanks (ASCII) at
/// the end of the context, as lm-eval has it, since most vocabularies join a blank with the word after it;
/// where it begins among the tokens is read off their texts, else off their offsets.
///
/// Errors: those of prompt_logprobs(); invalid_request when one token holds the end of the context and the
/// beginning of the continuation; unsupported when neither texts nor offsets of the tokens fit the prompt
/// (then token ids still work); invalid_argument when no token stands before the continuation; bad_reply for
/// a logprob above 0.
[[nodiscard]] result<loglikelihood> read_loglikelihood(const loglikelihood_request& request,
                                                       const completion_reply& reply);

}  // namespace evalcore::chat
