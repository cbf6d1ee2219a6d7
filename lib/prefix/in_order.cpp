#include <utility>

#include "prefix/seen.hpp"
#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

/// Follows the suite's order and only predicts.
class in_order final : public strategy {
 public:
  in_order(const plan& order, cache_model cache) : plan_(order), cache_(cache), seen_(order) {}

  action next(instant /*now*/) override {
    if (next_ == plan_.order.size()) return finished{};
    const std::uint32_t item = next_++;
    send out{.item = item, .slot = std::nullopt, .predicted_cached = predict(item)};
    seen_.sent(item);
    return out;
  }

  void on_first_token(std::uint32_t item, instant /*now*/) override { seen_.computed(item); }

  void on_end(std::uint32_t item, const ending& how) override {
    how.ok ? seen_.computed(item) : seen_.failed(item);
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> predict(std::uint32_t item) const {
    if (!cache_.enabled) return 0;
    if (cache_.slots) return std::nullopt;
    const auto common = std::max(seen_.computed_near(item).units, seen_.coming_near(item).units);
    const auto found = given(cache_, reusable(common, plan_.lengths[item]), plan_.units_per_token());
    return found > 0 ? std::optional(found) : std::nullopt;
  }

  const plan& plan_;
  cache_model cache_;
  std::uint32_t next_ = 0;
  seen seen_;
};

}  // namespace

std::unique_ptr<strategy> make_in_order(const plan& order, cache_model cache) {
  return std::make_unique<in_order>(order, cache);
}

}  // namespace evalcore::prefix
