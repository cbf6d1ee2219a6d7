#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include <evalcore/prefix/dispatch.hpp>

namespace evalcore::prefix {

/// One way to dispatch a plan; the contract is dispatcher's.
class strategy {
 public:
  virtual ~strategy() = default;
  virtual action next() = 0;
  virtual void on_first_token(std::uint32_t item) = 0;
  virtual void on_end(std::uint32_t item, bool ok) = 0;
  virtual void on_shared(bool ok) = 0;
};

[[nodiscard]] std::unique_ptr<strategy> make_in_order(plan order, std::span<const sequence> prompts,
                                                      cache_model cache);
[[nodiscard]] std::unique_ptr<strategy> make_slotted(plan order, std::span<const sequence> prompts,
                                                     cache_model cache);
[[nodiscard]] std::unique_ptr<strategy> make_leader_first(plan order, std::span<const sequence> prompts);

/// A backend always computes the last unit of a prompt, to have something to sample from.
[[nodiscard]] inline std::uint64_t reusable(std::uint32_t common, const sequence& prompt) noexcept {
  return prompt.empty() ? 0 : std::min<std::uint64_t>(common, prompt.size() - 1);
}

}  // namespace evalcore::prefix
