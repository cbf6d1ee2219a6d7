#include "engine/step_plan.hpp"

#include <algorithm>

namespace evalcore::engine {
namespace {

/// Decoding rows by their sequences, in runs without a gap.
void plan_decoding(std::span<const row_need> needs, std::uint32_t max_width, step_plan& plan) {
  for (std::size_t row = 0; row < needs.size(); ++row)
    if (needs[row].decodes) plan.chunks.push_back({row, 1});
  std::ranges::sort(plan.chunks, {}, [&](const row_chunk& one) { return needs[one.row].sequence; });
  std::size_t begin = 0;
  for (std::size_t at = 1; at <= plan.chunks.size(); ++at) {
    const bool parted = at == plan.chunks.size() || at - begin == max_width ||
                        needs[plan.chunks[at].row].sequence != needs[plan.chunks[at - 1].row].sequence + 1;
    if (!parted) continue;
    plan.ends.push_back(at);
    begin = at;
  }
}

void plan_canonical(std::span<const row_need> needs, std::uint32_t max_width, step_plan& plan) {
  plan_decoding(needs, max_width, plan);
  std::uint32_t left = prompt_tokens_a_step;
  for (std::size_t row = 0; row < needs.size(); ++row) {
    std::uint32_t feeds = needs[row].decodes ? 0 : needs[row].feeds;
    while (feeds > 0) {
      const std::uint32_t tokens = std::min(feeds, needs[row].chunk);
      if (tokens > left) return;
      plan.chunks.push_back({row, tokens});
      plan.ends.push_back(plan.chunks.size());
      feeds -= tokens;
      left -= tokens;
    }
  }
}

/// All that fits into one batch goes together. No more tokens of prompts in one than a canonical evaluation
/// has: the scores of attention take memory for each of them and the whole context.
void plan_packed(std::span<const row_need> needs, std::uint32_t max_width, step_plan& plan) {
  std::uint32_t left = prompt_tokens_a_step;
  std::uint32_t room = grid;
  std::size_t begin = 0;
  const auto part = [&] {
    begin = plan.chunks.size();
    plan.ends.push_back(begin);
    room = grid;
  };
  for (std::size_t row = 0; row < needs.size(); ++row) {
    if (!needs[row].decodes) continue;
    if (plan.chunks.size() - begin == max_width) part();
    plan.chunks.push_back({row, 1});
  }
  for (std::size_t row = 0; row < needs.size(); ++row) {
    std::uint32_t feeds = needs[row].decodes ? 0 : needs[row].feeds;
    while (feeds > 0 && left > 0) {
      if (plan.chunks.size() - begin == max_width || room == 0) part();
      const std::uint32_t tokens = std::min({feeds, left, room});
      plan.chunks.push_back({row, tokens});
      feeds -= tokens;
      left -= tokens;
      room -= tokens;
    }
  }
  if (plan.chunks.size() > begin) plan.ends.push_back(plan.chunks.size());
}

}  // namespace

std::span<const row_chunk> step_plan::batch(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends[index - 1];
  return std::span(chunks).subspan(begin, ends[index] - begin);
}

void plan_step(std::span<const row_need> needs, evaluation mode, std::uint32_t max_width, step_plan& plan) {
  plan.chunks.clear();
  plan.ends.clear();
  max_width = std::max(max_width, 1U);
  if (mode == evaluation::parity) {
    plan_canonical(needs, max_width, plan);
  } else {
    plan_packed(needs, max_width, plan);
  }
}

}  // namespace evalcore::engine
