#pragma once

#include <cstdint>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Tokens that a row comes to hold at most: its prompt with its answer, or with its longest continuation, the
/// last token of which is not computed.
[[nodiscard]] std::uint64_t most_held(const row_request& request);

/// Whether a row keeps to what step_engine.hpp says of its fields, for an engine of such traits and so many
/// tokens in its vocabulary. Errors: invalid_argument, context_overflow, unsupported.
[[nodiscard]] result<void> check_row(const row_request& request, const traits& engine,
                                     std::int32_t vocabulary);

}  // namespace evalcore::engine
