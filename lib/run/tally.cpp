#include "run/tally.hpp"

#include <evalcore/chat/double_bos.hpp>
#include <evalcore/chat/think_text.hpp>

namespace evalcore::run {
namespace {

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

void add(metric_summary& metric, double value, double weight = 1) {
  metric.scored += 1;
  metric.total += value;
  metric.squares += value * value;
  metric.weight += weight;
}

/// Beyond this no model has a context; sums of counts up to it cannot overflow.
constexpr std::uint64_t most_tokens = 1'000'000'000;

bool believable(const chat::usage& usage) {
  for (const auto& count : {usage.prompt_tokens, usage.cached_tokens, usage.cache_write_tokens,
                            usage.completion_tokens, usage.reasoning_tokens}) {
    if (count.value_or(0) > most_tokens) return false;
  }
  const auto of_prompt = usage.cached_tokens.value_or(0) + usage.cache_write_tokens.value_or(0);
  return !usage.prompt_tokens || of_prompt <= *usage.prompt_tokens;
}

}  // namespace

void tally::item(const run::item& one, const score::scorer& scorer) {
  const auto& category = one.category;
  if (chat::begins_with_bos(one.request)) into_.double_bos += 1;
  metric_for(category, scorer.metric()).items += 1;
  for (const auto& one_more : scorer.further_metrics()) {
    auto& metric = metric_for(category, one_more.name);
    metric.items += 1;
    metric.further = true;
    metric.comes_to = one_more.comes_to;
  }
}

void tally::verdict(const std::string& category, const score::scorer& scorer, const score::verdict& what) {
  for (const auto& one : what.further) add(metric_for(category, one.metric), one.value, one.weight);
  if (!what.scored) {
    into_.unscored += 1;
    return;
  }
  if (what.no_answer) into_.no_answers += 1;
  add(metric_for(category, scorer.metric()), what.value);
}

void tally::answer(const chat::reply& reply) {
  into_.answered += 1;
  if (reply.finish == chat::finish_reason::length) into_.cut_by_length += 1;
  if (reply.finish == chat::finish_reason::other) into_.unknown_finish += 1;
  if (reply.text.empty() && reply.calls.empty() && reply.choices.empty()) into_.empty_answers += 1;
  if (chat::ends_in_reasoning(reply)) into_.unclosed_reasoning += 1;
  if (!reply.refusal.empty() || reply.finish == chat::finish_reason::content_filter) into_.refused += 1;
  for (const auto& field : reply.dropped) into_.dropped[field] += 1;
}

bool tally::tokens(const chat::reply& reply, const std::optional<std::uint64_t>& predicted_cached) {
  const bool believed = believable(reply.usage);
  if (believed) {
    add(into_.prompt_tokens, reply.usage.prompt_tokens);
    add(into_.cached_tokens, reply.usage.cached_tokens);
    add(into_.cache_write_tokens, reply.usage.cache_write_tokens);
    add(into_.completion_tokens, reply.usage.completion_tokens);
    add(into_.reasoning_tokens, reply.usage.reasoning_tokens);
  } else {
    into_.unbelievable_usage += 1;
  }
  add(into_.predicted_cached_tokens, predicted_cached);
  if (reply.timing.first_token) {
    ttft_total_ += seconds(*reply.timing.first_token);
    ttft_count_ += 1;
    into_.mean_ttft_s = ttft_total_ / static_cast<double>(ttft_count_);
  }
  return believed;
}

metric_summary& tally::metric_for(const std::string& category, std::string_view name) {
  for (auto& held : into_.metrics) {
    if (held.category == category && held.metric == name) return held;
  }
  into_.metrics.push_back({category, std::string(name)});
  return into_.metrics.back();
}

}  // namespace evalcore::run
