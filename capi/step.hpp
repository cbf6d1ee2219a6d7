#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include <evalcore/c/step_engine.h>
#include <evalcore/engine/step_engine.hpp>

/// Collects what a host's engine tells of one step.
struct evc_step {
  evalcore::engine::step_output* out = nullptr;
  std::unordered_set<evalcore::engine::row_id> open;  ///< Rows that the engine may speak of.
  std::string texts;                                  ///< Of all tokens, one after the other.
  std::vector<std::size_t> ends;                      ///< Of each token's text.
  std::string fault;  ///< What the engine told that cannot be; empty: nothing.
  bool no_memory = false;

  void begin(evalcore::engine::step_output& into);
  /// Once all was told: points each token to its text.
  void finish();

  [[nodiscard]] bool knows(evalcore::engine::row_id row);
  [[nodiscard]] evalcore::engine::generated* last_token();
};
