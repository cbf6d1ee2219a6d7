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

void plan_packed(std::span<const row_need> needs, std::uint32_t max_width, step_plan& plan) {
  std::uint32_t left = prompt_tokens_a_step;
  std::size_t begin = 0;
  const auto add = [&](std::size_t row, std::uint32_t tokens) {
    if (plan.chunks.size() - begin == max_width) {
      begin = plan.chunks.size();
      plan.ends.push_back(begin);
    }
    plan.chunks.push_back({row, tokens});
  };
  for (std::size_t row = 0; row < needs.size(); ++row)
    if (needs[row].decodes) add(row, 1);
  for (std::size_t row = 0; row < needs.size() && left > 0; ++row) {
    if (needs[row].decodes || needs[row].feeds == 0) continue;
    const std::uint32_t tokens = std::min(needs[row].feeds, left);
    add(row, tokens);
    left -= tokens;
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
