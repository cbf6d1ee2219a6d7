#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::bench {

/// The requests of one evaluation, as tokens.
struct token_suite {
  std::string name;
  std::vector<prefix::sequence> prompts;
  std::vector<std::uint32_t> outputs;  ///< Tokens that the model answers with.
};

/// Function calling with three lists of tools, and questions after two sets of shots, 700 items of each; they
/// take turns.
[[nodiscard]] token_suite five_interleaved();

/// That suite and others, with and without something to share.
[[nodiscard]] std::vector<token_suite> token_suites();
/// Others, on which nothing of the planner was tuned: deep trees, one giant group, pairs, skewed sizes,
/// growing conversations, few requests with long answers, and shapes by chance.
[[nodiscard]] std::vector<token_suite> unseen_token_suites();

}  // namespace evalcore::bench
