#include <evalcore/engine/phase_watch.hpp>

#include <variant>

namespace evalcore::engine {

void phase_watch::saw(const stream::reading& what, instant now) {
  if (!emitter_.active()) return;
  for (const record& one : what.records) {
    if (const auto* seen = std::get_if<prefill_seen>(&one)) {
      const prompt_facts facts{.prompt_tokens = seen->prompt_tokens, .cached_tokens = seen->cached_tokens};
      emitter_.prefill(now, facts);
      emitter_.prefill_at(now, seen->processed, facts);
    } else {
      emitter_.generation(now, ++generated_);
    }
  }
  if (!what.end) return;
  if (!*what.end) {
    const bool cancelled = what.end->error().code == errc::cancelled;
    emitter_.complete(now, generated_, cancelled ? "cancelled" : "");
    return;
  }
  const answer& whole = **what.end;
  const prompt_facts facts{.prompt_tokens = whole.prompt_tokens,
                           .cached_tokens = whole.cached_tokens,
                           .tokens_per_second = whole.how.prompt_tokens_per_second};
  emitter_.complete(now, whole.generation_tokens, chat::name(whole.finish), facts,
                    whole.how.generation_tokens_per_second);
}

}  // namespace evalcore::engine
