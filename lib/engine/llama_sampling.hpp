#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evalcore/engine/step_engine.hpp>

#include "engine/llama_handles.hpp"
#include "engine/next_token.hpp"

namespace evalcore::engine {

/// Chooses the tokens of one row. In this order: logit bias, penalties (the repetition penalty looks at
/// prompt and answer, the others at the answer), temperature, top-k, top-p, min-p.
class token_chooser {
 public:
  token_chooser() = default;
  /// `context_tokens`: how far back the penalties look.
  token_chooser(const sampling& how, std::span<const token> prompt, std::int32_t vocabulary,
                std::uint32_t context_tokens);

  [[nodiscard]] token choose(const next_token& next, std::span<const float> logits);

 private:
  sampler_handle chain_;  ///< Null: the likeliest, without any change to its score.
  std::vector<llama_token_data> candidates_;
};

}  // namespace evalcore::engine
