#include <evalcore/chat/completion.hpp>

#include <algorithm>
#include <numeric>

namespace evalcore::chat {
namespace {

using tokens_view = std::span<const completion_token>;

error cannot(const std::string& found) {
  return fail(errc::unsupported, stage::decode,
              "the backend does not return the logprobs of the prompt, only those of generated tokens (" +
                  found + "): choices cannot be scored by likelihood on it");
}

/// How many tokens follow each prompt in a reply with `given` tokens of which `own` are the prompts'. One was
/// allowed and some servers insist on it; others leave it out of an echo.
std::optional<std::size_t> generated(std::uint64_t given, std::uint64_t own, std::size_t prompts) {
  if (given == own) return 0;
  if (given == own + prompts) return 1;
  return std::nullopt;
}

std::string counted(std::uint64_t given, std::uint64_t own) {
  return std::to_string(given) + " logprobs for " + std::to_string(own) + " prompt tokens";
}

}  // namespace

result<std::vector<std::span<const completion_token>>> prompt_logprobs(const completion_request& request,
                                                                       const completion_reply& reply) {
  const auto& params = request.params;
  const bool scored = params.logprobs || params.top_logprobs;
  if (!request.echo || !scored || params.max_tokens.value_or(2) > 1) {
    return fail(errc::invalid_argument, stage::decode,
                "the logprobs of a prompt need a request with echo, logprobs and at most one token");
  }
  const auto& got = reply.completions;
  if (got.size() != request.prompts.size()) {
    return fail(errc::bad_reply, stage::decode,
                "the answer has " + std::to_string(got.size()) + " completions for " +
                    std::to_string(request.prompts.size()) + " prompts");
  }

  std::vector<tokens_view> views;
  const bool by_ids =
      std::ranges::all_of(request.prompts, [](const prompt& one) { return one.index() == 1; });
  if (by_ids) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t own = std::get<token_ids>(request.prompts[i]).size();
      if (!generated(got[i].tokens.size(), own, 1)) return cannot(counted(got[i].tokens.size(), own));
      views.push_back(tokens_view(got[i].tokens).first(own));
    }
  } else {
    const std::size_t given =
        std::accumulate(got.begin(), got.end(), std::size_t{0},
                        [](std::size_t sum, const completion& one) { return sum + one.tokens.size(); });
    if (!reply.usage.prompt_tokens) {
      return fail(errc::unsupported, stage::decode,
                  "the backend does not say how many tokens a prompt has, so its logprobs cannot be checked");
    }
    const auto own = *reply.usage.prompt_tokens;
    const auto after = generated(given, own, got.size());
    if (!after) return cannot(counted(given, own));
    for (const auto& one : got) {
      if (one.tokens.size() <= *after) return cannot(counted(given, own));
      views.push_back(tokens_view(one.tokens).first(one.tokens.size() - *after));
    }
  }
  for (const auto& view : views) {
    if (view.empty() || view.front().logprob) return cannot("the first token has a logprob");
  }
  return views;
}

}  // namespace evalcore::chat
