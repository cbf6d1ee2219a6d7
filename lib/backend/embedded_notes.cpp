#include "backend/embedded_notes.hpp"

namespace evalcore::backend {

std::string note_of_slots(const engine::step_engine& opened, const engine::llama_options& asked) {
  const auto& about = opened.about();
  // Absent where rows share their memory.
  const auto bytes = opened.snapshot_bytes(about.context_tokens);
  auto note = std::to_string(about.max_rows) + (about.max_rows == 1 ? " slot of " : " slots of ") +
              std::to_string(about.context_tokens) + " tokens";
  if (bytes) note += ", " + std::to_string(*bytes / 1'000'000) + " MB each";
  if (about.max_rows == asked.max_rows) return note;
  if (!opened.memory().free_ram)
    return note + ": how much memory is free is not known here; --slots names more";
  note += ": free memory has no room for more; a shorter --context-per-slot";
  // Else prefixes are kept in the rows' own memory, or nowhere.
  const bool beside =
      asked.mode == engine::evaluation::parity && !(asked.fit_beside && asked.fit_beside->max_bytes == 0U);
  if (beside) note += " or a smaller --cache-memory-max-gb";
  return note + " gives more";
}

}  // namespace evalcore::backend
