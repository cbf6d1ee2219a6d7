#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <evalcore/prefix/dispatch.hpp>

namespace evalcore::prefix {

/// One way to dispatch a plan; the contract is dispatcher's.
class strategy {
 public:
  virtual ~strategy() = default;
  virtual action next(instant now) = 0;
  virtual void on_first_token(std::uint32_t item, instant now) = 0;
  virtual void on_retry(std::uint32_t /*item*/, instant /*now*/) {}
  virtual void on_pause(bool /*paused*/, instant /*now*/) {}
  virtual void on_end(std::uint32_t item, const ending& how) = 0;
  virtual void on_shared(bool /*ok*/) {}
  [[nodiscard]] virtual planning state() const { return planning::whole; }
};

// The plan must outlive the strategy.
[[nodiscard]] std::unique_ptr<strategy> make_in_order(const plan& order, cache_model cache);
[[nodiscard]] std::unique_ptr<strategy> make_slotted(const plan& order, cache_model cache);
[[nodiscard]] std::unique_ptr<strategy> make_rotating(const plan& order, cache_model cache);

/// A backend always computes the last unit of a prompt, to have something to sample from.
[[nodiscard]] inline std::uint64_t reusable(std::uint32_t common, std::uint32_t length) noexcept {
  return length == 0 ? 0 : std::min(common, length - 1);
}

/// Of so many common units what one common cache gives: whole pages, and nothing below its least.
[[nodiscard]] inline std::uint64_t given(const cache_model& cache, std::uint64_t units,
                                         std::uint32_t units_per_token) noexcept {
  if (units < std::uint64_t{cache.least} * units_per_token) return 0;
  const auto page = std::uint64_t{cache.page} * units_per_token;
  return page > 1 ? units / page * page : units;
}

}  // namespace evalcore::prefix
