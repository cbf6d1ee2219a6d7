#include "engine/llama_sampling.hpp"

#include <algorithm>
#include <random>

namespace evalcore::engine {
namespace {

bool changes_scores(const sampling& how) {
  return how.repetition_penalty != 1 || how.presence_penalty != 0 || how.frequency_penalty != 0 ||
         !how.logit_bias.empty();
}

/// llama.cpp takes 32 bits, and the highest value for none at all.
std::uint32_t seed_of(const sampling& how) {
  if (!how.seed) return std::random_device{}() >> 1;
  const auto folded = static_cast<std::uint32_t>(*how.seed ^ (*how.seed >> 32));
  return folded == LLAMA_DEFAULT_SEED ? LLAMA_DEFAULT_SEED - 1 : folded;
}

llama_sampler* bias(const sampling& how, std::int32_t vocabulary) {
  std::vector<llama_logit_bias> biases;
  biases.reserve(how.logit_bias.size());
  for (const auto& [id, value] : how.logit_bias) biases.push_back({id, static_cast<float>(value)});
  return llama_sampler_init_logit_bias(vocabulary, static_cast<std::int32_t>(biases.size()), biases.data());
}

}  // namespace

token_chooser::token_chooser(const sampling& how, std::span<const token> prompt, std::int32_t vocabulary,
                             std::uint32_t context_tokens) {
  const bool greedy = how.temperature == 0;
  if (greedy && !changes_scores(how)) return;
  chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  const auto add = [&](llama_sampler* one) { llama_sampler_chain_add(chain_.get(), one); };
  const auto reach = static_cast<std::int32_t>(context_tokens);
  if (!how.logit_bias.empty()) add(bias(how, vocabulary));
  if (how.repetition_penalty != 1) {
    auto* repetition =
        llama_sampler_init_penalties(vocabulary, reach, static_cast<float>(how.repetition_penalty), 0, 0);
    for (const auto id : prompt) llama_sampler_accept(repetition, id);
    add(repetition);
  }
  if (how.frequency_penalty != 0 || how.presence_penalty != 0)
    add(llama_sampler_init_penalties(vocabulary, reach, 1, static_cast<float>(how.frequency_penalty),
                                     static_cast<float>(how.presence_penalty)));
  if (greedy) {
    add(llama_sampler_init_greedy());
    return;
  }
  add(llama_sampler_init_temp(static_cast<float>(how.temperature)));
  if (how.top_k > 0)
    add(llama_sampler_init_top_k(
        static_cast<std::int32_t>(std::min(how.top_k, static_cast<std::uint32_t>(vocabulary)))));
  if (how.top_p < 1) add(llama_sampler_init_top_p(static_cast<float>(how.top_p), 1));
  if (how.min_p > 0) add(llama_sampler_init_min_p(static_cast<float>(how.min_p), 1));
  add(llama_sampler_init_dist(seed_of(how)));
}

token token_chooser::choose(const next_token& next, std::span<const float> logits) {
  if (!chain_) return next.likeliest();
  candidates_.resize(logits.size());
  for (std::size_t at = 0; at < logits.size(); ++at)
    candidates_[at] = {static_cast<token>(at), logits[at], 0};
  llama_token_data_array left{candidates_.data(), candidates_.size(), -1, false};
  llama_sampler_apply(chain_.get(), &left);
  const token chosen =
      left.selected < 0 ? next.likeliest() : left.data[static_cast<std::size_t>(left.selected)].id;
  llama_sampler_accept(chain_.get(), chosen);
  return chosen;
}

}  // namespace evalcore::engine
