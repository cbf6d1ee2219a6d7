#pragma once

#include <cstdint>
#include <utility>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/engine/answer.hpp>
#include <evalcore/engine/phase_events.hpp>

namespace evalcore::engine {

/// Makes phase events of what a stream gives, on the thread that reads it. The request asks for
/// request::watch_prefill; of a reader that keeps up, events follow what happens as closely as it reads.
class phase_watch {
 public:
  phase_watch() = default;
  explicit phase_watch(phase_emitter emitter) : emitter_(std::move(emitter)) {}

  [[nodiscard]] bool active() const noexcept { return emitter_.active(); }
  /// Each record, and then the end. `now`: when it was read.
  void saw(const record& one, instant now);
  void ended(const result<answer>& how, instant now);

 private:
  phase_emitter emitter_;
  std::int64_t generated_ = 0;
};

}  // namespace evalcore::engine
