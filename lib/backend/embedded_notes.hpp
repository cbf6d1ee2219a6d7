#pragma once

#include <string>

#include <evalcore/engine/llama.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::backend {

/// Of an engine that was to open as many rows as fit, up to those of `asked`.
[[nodiscard]] std::string note_of_slots(const engine::step_engine& opened,
                                        const engine::llama_options& asked);

}  // namespace evalcore::backend
