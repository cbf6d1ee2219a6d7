#include <evalcore/engine/phase_watch.hpp>

#include <variant>

#include <evalcore/engine/refusal.hpp>

namespace evalcore::engine {

void phase_watch::saw(const record& one, instant now) {
  if (!emitter_.active()) return;
  if (const auto* seen = std::get_if<prefill_seen>(&one)) {
    const prompt_facts facts{.prompt_tokens = seen->prompt_tokens, .cached_tokens = seen->cached_tokens};
    emitter_.prefill(now, facts);
    emitter_.prefill_at(now, seen->processed, facts);
  } else {
    emitter_.generation(now, ++generated_);
  }
}

void phase_watch::ended(const result<answer>& how, instant now) {
  if (!emitter_.active()) return;
  if (!how) {
    // A reader that was too slow has the same code, and is no cancellation.
    const bool cancelled =
        how.error().code == errc::cancelled && how.error().detail != name(refusal::stream_backpressure);
    emitter_.complete(now, generated_, cancelled ? "cancelled" : "");
    return;
  }
  const answer& whole = *how;
  const prompt_facts facts{.prompt_tokens = whole.prompt_tokens,
                           .cached_tokens = whole.cached_tokens,
                           .tokens_per_second = whole.how.prompt_tokens_per_second};
  emitter_.complete(now, whole.generation_tokens, chat::name(whole.finish), facts,
                    whole.how.generation_tokens_per_second);
}

}  // namespace evalcore::engine
