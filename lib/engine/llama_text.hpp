#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/step_engine.hpp>

struct llama_vocab;

namespace evalcore::engine {

/// As step_engine::tokenize().
[[nodiscard]] result<std::vector<token>> tokens_of(const llama_vocab* vocabulary, std::string_view text,
                                                   bool special);
/// The bytes of a token, put in place of `text`. Of a control token: none.
void text_of(const llama_vocab* vocabulary, token id, std::string& text);
/// What the vocabulary puts before a prompt, spelled out; empty: nothing.
[[nodiscard]] std::string beginning_of(const llama_vocab* vocabulary);

}  // namespace evalcore::engine
