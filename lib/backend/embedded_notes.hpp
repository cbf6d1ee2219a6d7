#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <evalcore/engine/llama.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::backend {

/// What a loader found out about its engine.
struct engine_findings {
  std::optional<std::uint32_t> safe_width;
  bool keep_prefixes = true;
  std::string why;    ///< Why not more of both; empty: nobody says.
  std::string slots;  ///< How many were chosen, in words; empty: none were to be.
};

/// What keeps answers from depending on each other where `rows` are open; empty: nothing has to.
[[nodiscard]] std::string note_of_engine(const engine_findings& found, std::uint32_t rows);

/// Of an engine that was to open as many rows as fit, up to those of `asked`.
[[nodiscard]] std::string note_of_slots(const engine::step_engine& opened,
                                        const engine::llama_options& asked);

}  // namespace evalcore::backend
