#pragma once

#include <span>
#include <string_view>

namespace evalcore::wire {

/// A server's ways, as data: code asks the dialect and never the server's name.
struct dialect {
  std::string_view name;

  // What the server understands beyond the common fields.
  bool slot_pinning = false;       ///< `id_slot` in the request.
  bool cache_switch = false;       ///< `cache_prompt` in the request.
  bool slot_save_restore = false;  ///< POST /slots/N?action=save|restore.
  bool tokenizes = false;          ///< POST /apply-template and /tokenize.
  bool reports_slots = false;      ///< GET /props says total_slots and n_ctx.

  // How its answers read.
  bool reports_cached_tokens = false;  ///< usage.prompt_tokens_details.cached_tokens is always there.
  /// [DONE] proves the end of a stream even where no finish reason came before it.
  bool done_proves_end = true;

  // Readiness.
  std::string_view ready_path = "/v1/models";  ///< 200 when it can take requests.
};

/// Every dialect that evalcore knows. The first is `generic`.
[[nodiscard]] std::span<const dialect> dialects() noexcept;
/// Null when there is none of that name.
[[nodiscard]] const dialect* find_dialect(std::string_view name) noexcept;

}  // namespace evalcore::wire
