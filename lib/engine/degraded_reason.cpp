#include <evalcore/engine/prefix_cache.hpp>

namespace evalcore::engine {

void snapshot_tally::count(kept outcome) noexcept {
  stores += outcome == kept::stored ? 1U : 0U;
  memory_skips += outcome == kept::skipped ? 1U : 0U;
  rejects += outcome == kept::rejected ? 1U : 0U;
}

std::string degraded_reason(const snapshot_tally& tally, std::uint32_t prompt_tokens,
                            const prefix_cache_stats& cache) {
  if (tally.unrestorable > 0) {
    return "#FALLBACK native_apc_restore_failed: the snapshot of the first " +
           std::to_string(tally.unrestorable) + " tokens of the " + std::to_string(prompt_tokens) +
           "-token prompt could not be restored, so the whole prompt was computed; the snapshot is dropped";
  }
  if (tally.stores > 0) return {};
  const std::string prompt = std::to_string(prompt_tokens);
  if (tally.memory_skips > 0) {
    return "#FALLBACK native_apc_store_skipped: the snapshot of the " + prompt +
           "-token prompt has no room in the prefix cache's budget (" +
           std::to_string(cache.memory_max_bytes >> 20U) +
           " MiB) or in the free memory, so the next request of this key computes the whole prompt again; "
           "give the cache a larger budget, or load a smaller model";
  }
  if (tally.rejects > 0) {
    return "#FALLBACK native_apc_store_rejected: no snapshot of the " + prompt +
           "-token prompt could be taken, so the next request of this key computes the whole prompt again";
  }
  return {};
}

std::string no_prefixes_reason(const traits& engine) {
  if (!engine.snapshots) {
    return "#FALLBACK native_apc_unsupported: " + engine.name +
           " takes no snapshots, so each request of this key computes its whole prompt";
  }
  return "#FALLBACK native_apc_off: no prefix is kept, since on this model an answer after a restored one is "
         "not the same to the bit, so each request of this key computes its whole prompt";
}

}  // namespace evalcore::engine
