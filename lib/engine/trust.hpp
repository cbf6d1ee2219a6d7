#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/engine/options.hpp>
#include <evalcore/engine/runtime.hpp>

namespace evalcore::engine {

/// Finds out what the engine can be trusted with, by check_parity() where nobody vouches for it, and keeps it
/// in `made`. What that costs, as note_of() says it. Errors: those of check_parity().
[[nodiscard]] result<std::string> check_trust(loaded_engine& made, const options& how);

/// `how` without what is wider than an engine can be trusted with; absent: nothing is.
[[nodiscard]] options narrowed(options how, std::optional<std::uint32_t> safe_width);

}  // namespace evalcore::engine
