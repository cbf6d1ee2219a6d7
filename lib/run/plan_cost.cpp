#include <evalcore/run/plan_cost.hpp>

#include <algorithm>

namespace evalcore::run {

cost planned_cost::total() const noexcept {
  cost sum = answers;
  sum += cost{prompts, prompts};
  return sum;
}

planned_cost cost_of(const prefix::plan& plan, const prefix::prediction& prediction,
                     std::span<const std::optional<std::uint32_t>> max_tokens,
                     std::optional<std::uint64_t> expected_output, const price& at) {
  const auto unit = plan.units_per_token();
  planned_cost out;
  out.estimated = !plan.exact;
  const auto cached = prediction.total_cached / unit;
  out.prompts = times(at.input, plan.total_units / unit - cached) + times(at.cached, cached);

  const auto low = std::min(at.output, at.reasoning);
  const auto high = std::max(at.output, at.reasoning);
  for (const auto& bound : max_tokens) {
    if (!bound && !expected_output) {
      out.unbounded += 1;
      out.answers += cost{0, std::nullopt};
    } else if (expected_output) {
      const auto length = std::min<std::uint64_t>(*expected_output, bound.value_or(UINT32_MAX));
      out.answers += cost{times(low, length), times(high, length)};
    } else {
      out.answers += cost{0, times(high, *bound)};
    }
  }
  return out;
}

}  // namespace evalcore::run
