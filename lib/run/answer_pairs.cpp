#include "run/answer_pairs.hpp"

#include <algorithm>
#include <string>

#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/run/planning.hpp>

namespace evalcore::run {
namespace {

/// Ids of calls are the server's and new each time.
std::uint64_t words_of(const chat::reply& reply) {
  sha256 hash;
  hash.piece(reply.text).piece(reply.reasoning);
  for (const auto& call : reply.calls) hash.piece(call.name).piece(call.arguments);
  std::string sums;
  for (const auto& choice : reply.choices) json::append_number(sums += ' ', choice.sum_logprob);
  hash.piece(sums);
  return std::stoull(hash.hex().substr(0, 16), nullptr, 16);
}

}  // namespace

std::vector<bool> choose_for_second(const suite& from, std::size_t items, std::size_t count) {
  std::vector<bool> out(items, count >= items);
  if (count >= items) return out;
  // Not by the numbers that order the run: those would choose the items that go out first.
  const auto seed = std::stoull(from.hash().substr(16, 16), nullptr, 16);
  const auto order = prefix::deal(static_cast<std::uint32_t>(items), seed);
  for (std::size_t at = 0; at < count; ++at) out[order[at]] = true;
  return out;
}

void answer_pairs::came(std::size_t position, const chat::reply& reply, const score::verdict& verdict) {
  if (!verdict.scored) return;
  const half now{words_of(reply), verdict.value, reply.usage.cached_tokens};
  const auto other = waiting_.extract(position);
  if (other) {
    pair(other.mapped(), now);
  } else {
    waiting_.emplace(position, now);
  }
}

void answer_pairs::pair(const half& one, const half& other) {
  const bool changed = one.words != other.words;
  const double apart = one.score - other.score;
  into_.pairs += 1;
  into_.changed += changed ? 1 : 0;
  into_.flips += apart != 0 ? 1 : 0;
  into_.squares += apart * apart;
  if (!one.cached || !other.cached) return;
  const bool differed = *one.cached != *other.cached;
  into_.cache_differed = into_.cache_differed.value_or(0) + (differed ? 1 : 0);
  into_.changed_where_cache_differed += differed && changed ? 1 : 0;
}

}  // namespace evalcore::run
