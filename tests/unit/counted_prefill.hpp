#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "unit/wrapped_engine.hpp"

namespace evalcore::engine {

/// What an engine with one row has computed of its prompt, told by its own thread.
struct prefill_count {
  std::function<void(std::uint32_t step)> before_step = [](std::uint32_t /*from 1*/) {};
  std::mutex mutex;
  std::uint32_t processed = 0;  ///< When its last step ended.
  bool interrupted = false;     ///< That step.
};

class counted_prefill final : public wrapped_engine {
 public:
  counted_prefill(std::unique_ptr<step_engine> inner, std::shared_ptr<prefill_count> seen)
      : wrapped_engine(std::move(inner)), seen_(std::move(seen)) {}

  [[nodiscard]] result<void> step(std::uint32_t width, step_output& out) override {
    seen_->before_step(++steps_);
    auto done = inner().step(width, out);
    const std::lock_guard held(seen_->mutex);
    if (!out.prefill.empty()) seen_->processed = out.prefill.front().processed;
    seen_->interrupted = out.interrupted;
    return done;
  }

 private:
  std::shared_ptr<prefill_count> seen_;
  std::uint32_t steps_ = 0;
};

}  // namespace evalcore::engine
