#include "engine/row_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace evalcore::engine {
namespace {

evalcore::error wrong(std::string message) {
  return fail(errc::invalid_argument, stage::send, std::move(message));
}

bool in_vocabulary(const std::vector<token>& tokens, std::int32_t vocabulary) {
  return std::ranges::all_of(tokens, [&](token id) { return id >= 0 && id < vocabulary; });
}

/// Engines compute in single precision: what becomes 0 or infinite there means something else.
bool fits_float(double value) {
  const auto narrow = static_cast<float>(std::abs(value));
  return std::isfinite(narrow) && (value == 0 || narrow > 0);
}

result<void> check_sampling(const sampling& how, std::int32_t vocabulary) {
  for (const auto& [name, value] : {std::pair("temperature", how.temperature),
                                    {"top_p", how.top_p},
                                    {"min_p", how.min_p},
                                    {"repetition_penalty", how.repetition_penalty},
                                    {"presence_penalty", how.presence_penalty},
                                    {"frequency_penalty", how.frequency_penalty}}) {
    if (!std::isnan(value) && !fits_float(value) && !std::isinf(value))
      return wrong(std::string(name) + " is too large or too near to 0 for a single-precision number");
  }
  if (!(how.temperature >= 0) || std::isinf(how.temperature))
    return wrong("temperature is a number from 0 on");
  if (!(how.top_p > 0 && how.top_p <= 1)) return wrong("top_p is above 0 and at most 1");
  if (!(how.min_p >= 0 && how.min_p <= 1)) return wrong("min_p is from 0 to 1");
  if (!(how.repetition_penalty > 0) || std::isinf(how.repetition_penalty))
    return wrong("repetition_penalty is above 0");
  if (!std::isfinite(how.presence_penalty)) return wrong("presence_penalty is a number");
  if (!std::isfinite(how.frequency_penalty)) return wrong("frequency_penalty is a number");
  for (const auto& [id, bias] : how.logit_bias) {
    if (id < 0 || id >= vocabulary)
      return wrong("logit_bias names token " + std::to_string(id) + ", which the vocabulary has not");
    const bool ruled_out = std::isinf(bias) && bias < 0;
    if (!ruled_out && !(std::isfinite(bias) && fits_float(bias)))
      return wrong("logit_bias is a single-precision number, or minus infinity");
  }
  return {};
}

result<void> check_prefix(const row_request& request, const traits& engine) {
  if (!request.from && request.restored > 0) return wrong("tokens are restored without a snapshot");
  if (request.from && request.restored == 0) return wrong("a snapshot is given, and none of its tokens used");
  if (request.restored >= request.prompt.size() && request.restored > 0)
    return wrong("all of the prompt is restored: at least its last token must be computed");
  std::uint32_t before = request.restored;
  if (request.restored % engine.prefix_grid != 0)
    return wrong("restored is a multiple of " + std::to_string(engine.prefix_grid));
  for (const auto cut : request.cuts) {
    if (cut <= before || cut >= request.prompt.size() || cut % engine.prefix_grid != 0)
      return wrong("cuts rise, lie inside of the prompt, and are multiples of " +
                   std::to_string(engine.prefix_grid));
    before = cut;
  }
  return {};
}

}  // namespace

std::uint64_t most_held(const row_request& request) {
  if (request.continuations.empty()) return request.prompt.size() + request.max_tokens;
  std::size_t longest = 1;
  for (const auto& one : request.continuations) longest = std::max(longest, one.size());
  return request.prompt.size() + longest - 1;
}

result<void> check_row(const row_request& request, const traits& engine, std::int32_t vocabulary) {
  if (request.prompt.empty()) return wrong("the prompt has no token");
  if (!in_vocabulary(request.prompt, vocabulary)) return wrong("the prompt has a token that is not one");
  if (auto good = check_prefix(request, engine); !good) return good;
  if (!request.continuations.empty()) {
    if (!engine.scoring) return fail(errc::unsupported, stage::send, engine.name + " cannot score");
    for (const auto& one : request.continuations) {
      if (one.empty()) return wrong("a continuation has no token");
      if (!in_vocabulary(one, vocabulary)) return wrong("a continuation has a token that is not one");
    }
  } else if (request.max_tokens == 0) {
    return wrong("max_tokens is at least 1");
  }
  if (auto good = check_sampling(request.how, vocabulary); !good) return good;
  const auto held = most_held(request);
  if (held > engine.context_tokens)
    return fail(errc::context_overflow, stage::send,
                "the prompt has " + std::to_string(request.prompt.size()) + " tokens, and with its answer " +
                    std::to_string(held) + ", but a context holds " + std::to_string(engine.context_tokens) +
                    ": open the model with a larger one");
  return {};
}

}  // namespace evalcore::engine
