#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <evalcore/base/result.hpp>
#include <evalcore/c/error.h>
#include <evalcore/c/step_engine.h>
#include <evalcore/chat/completion.hpp>
#include <evalcore/engine/llama.hpp>

#include "handle.hpp"

namespace evalcore::capi {

/// A mistake of the caller's. `detail`: a word for it, or nothing.
[[nodiscard]] error misuse(std::string message, std::string detail = {});

/// A text as it was given. Errors: invalid_argument when it has a size but no data, or is not UTF-8; `what`
/// names it.
[[nodiscard]] result<std::string> read_text(evc_str given, const char* what);

/// "parity" or "fast". Errors: as read_text(), and invalid_argument for another word.
[[nodiscard]] result<engine::evaluation> read_evaluation(evc_str given);

/// Ids of a model's tokenizer. Errors: invalid_argument without data, or for a negative one.
[[nodiscard]] result<chat::token_ids> read_tokens(evc_tokens given, const char* what);

/// Sets *out to nothing. Errors: invalid_argument when there is no place for the result.
template <class T>
[[nodiscard]] result<void> clear(T** out) {
  if (out == nullptr) return misuse("there is no place for the result: out is NULL", "null");
  *out = nullptr;
  return {};
}

/// Errors: invalid_argument, with the range.
[[nodiscard]] result<void> check_range(const std::string& what, std::uint64_t number, std::uint64_t least,
                                       std::uint64_t most);
[[nodiscard]] result<void> check_range(const std::string& what, double number, double least, double most);

[[nodiscard]] inline bool in_range(double number, double least, double most) noexcept {
  return std::isfinite(number) && number >= least && number <= most;
}

}  // namespace evalcore::capi
