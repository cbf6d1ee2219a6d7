#include <evalcore/chat/loglikelihood.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <evalcore/chat/context_end.hpp>

namespace evalcore::chat {
namespace {

using tokens_view = std::span<const completion_token>;

// Sums of rounded numbers land a little above 0.
constexpr double rounding = 1e-3;

error refuse(errc code, std::string message) { return fail(code, stage::decode, std::move(message)); }

std::uint64_t characters(std::string_view utf8) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      utf8, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

error straddles() {
  return refuse(errc::invalid_request,
                "one token holds the end of the context and the beginning of the continuation, so the "
                "continuation has no likelihood of its own; send token ids");
}

/// Where among the tokens `whole` goes on behind `cut`, by their texts; from the end, because a token that a
/// server puts first has a text that is not in the prompt. Nullopt: the texts do not fit.
std::optional<result<std::size_t>> cut_by_texts(std::string_view whole, std::size_t cut, tokens_view tokens) {
  auto left = whole;
  auto at = tokens.size();
  while (left.size() > cut) {
    if (at == 0) return std::nullopt;
    const std::string_view text = tokens[--at].token;
    if (text.empty() || !left.ends_with(text)) return std::nullopt;
    left.remove_suffix(text.size());
  }
  if (left.size() < cut) return straddles();
  return at;
}

/// The same by their offsets, if these count the characters of `whole` and nothing else. `after` is what was
/// generated.
std::optional<result<std::size_t>> cut_by_offsets(std::string_view whole, std::size_t cut, tokens_view tokens,
                                                  tokens_view after) {
  const auto has_offset = [](const completion_token& one) { return one.text_offset.has_value(); };
  if (tokens.empty() || !std::ranges::all_of(tokens, has_offset)) return std::nullopt;
  const auto end = !after.empty()
                       ? after.front().text_offset
                       : std::optional(*tokens.back().text_offset + characters(tokens.back().token));
  const bool fits = tokens.front().text_offset == 0U && end == characters(whole) &&
                    std::ranges::is_sorted(tokens, {}, &completion_token::text_offset);
  if (!fits) return std::nullopt;
  const auto begin = characters(whole.substr(0, cut));
  const auto first =
      std::ranges::lower_bound(tokens, std::optional(begin), {}, &completion_token::text_offset);
  if (first == tokens.end() || *first->text_offset != begin) return straddles();
  return static_cast<std::size_t>(first - tokens.begin());
}

result<std::size_t> find_cut(const loglikelihood_request& request, tokens_view tokens, tokens_view after) {
  if (const auto* ids = std::get_if<token_ids>(&request.context)) return ids->size();
  const auto& context = std::get<std::string>(request.context);
  const auto whole = context + std::get<std::string>(request.continuation);
  const auto cut = size_without_end_blanks(context);
  if (auto found = cut_by_texts(whole, cut, tokens)) return *std::move(found);
  if (auto found = cut_by_offsets(whole, cut, tokens, after)) return *std::move(found);
  return refuse(errc::unsupported,
                "where the continuation begins cannot be told: neither the texts nor the offsets of the "
                "tokens fit the prompt; send token ids");
}

/// Nullopt: the likeliest token is not told.
std::optional<bool> is_likeliest(const completion_token& one) {
  std::optional<double> best;
  for (const auto& other : one.top) {
    if (other.logprob) best = std::max(best.value_or(*other.logprob), *other.logprob);
  }
  if (!best) return std::nullopt;
  return *one.logprob >= *best;
}

}  // namespace

std::size_t size_without_end_blanks(std::string_view context) {
  // Those that Python's str.rstrip() knows in ASCII.
  constexpr std::string_view blanks = " \t\n\r\v\f\x1c\x1d\x1e\x1f";
  const auto last = context.find_last_not_of(blanks);
  return last == std::string_view::npos ? 0 : last + 1;
}

result<completion_request> completion_for(const loglikelihood_request& request) {
  if (request.context.index() != request.continuation.index()) {
    return fail(errc::invalid_argument, stage::send,
                "context and continuation are both text or both token ids");
  }
  completion_request out;
  out.model = request.model;
  out.hints = request.hints;
  out.echo = true;
  out.params.logprobs = true;
  out.params.top_logprobs = 1;
  out.params.temperature = 0;
  out.params.max_tokens = 1;
  const bool empty = std::visit(
      [&](const auto& continuation) {
        auto whole = std::get<std::decay_t<decltype(continuation)>>(request.context);
        whole.insert(whole.end(), continuation.begin(), continuation.end());
        out.prompts.emplace_back(std::move(whole));
        return continuation.empty();
      },
      request.continuation);
  if (empty) return fail(errc::invalid_argument, stage::send, "the continuation is empty");
  return out;
}

result<loglikelihood> read_loglikelihood(const loglikelihood_request& request,
                                         const completion_reply& reply) {
  const auto asked = completion_for(request);
  if (!asked) return asked.error();
  const auto views = prompt_logprobs(*asked, reply);
  if (!views) return views.error();
  const auto tokens = views->front();
  const auto cut =
      find_cut(request, tokens, tokens_view(reply.completions.front().tokens).subspan(tokens.size()));
  if (!cut) return cut.error();
  if (*cut == 0) {
    return refuse(errc::invalid_argument,
                  "no token stands before the continuation, so its first token has no likelihood; give a "
                  "context of at least one token");
  }
  loglikelihood out;
  out.is_greedy = true;
  for (const auto& one : tokens.subspan(*cut)) {
    if (*one.logprob > rounding) return refuse(errc::bad_reply, "a logprob is above 0");
    out.sum_logprob += *one.logprob;
    const auto likeliest = is_likeliest(one);
    out.is_greedy = likeliest && out.is_greedy ? std::optional(*out.is_greedy && *likeliest) : std::nullopt;
  }
  out.tokens = tokens.size() - *cut;
  return out;
}

}  // namespace evalcore::chat
