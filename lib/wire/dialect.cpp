#include <evalcore/wire/dialect.hpp>

#include <algorithm>
#include <array>

namespace evalcore::wire {
namespace {

constexpr std::array table{
    dialect{.name = "generic"},
    dialect{
        .name = "llama-server",
        .slot_pinning = true,
        .cache_switch = true,
        .slot_save_restore = true,
        .tokenizes = true,
        .reports_slots = true,
        .reports_cached_tokens = true,
        .done_proves_end = false,
        .ready_path = "/health",
    },
};

}  // namespace

std::span<const dialect> dialects() noexcept { return table; }

const dialect* find_dialect(std::string_view name) noexcept {
  const auto* found = std::ranges::find(table, name, &dialect::name);
  return found == table.end() ? nullptr : found;
}

}  // namespace evalcore::wire
