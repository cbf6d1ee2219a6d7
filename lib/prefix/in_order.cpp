#include <utility>

#include "prefix/seen.hpp"
#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

/// Follows the plan's order and only predicts.
class in_order final : public strategy {
 public:
  in_order(plan order, std::span<const sequence> prompts, cache_model cache)
      : prompts_(prompts), cache_(cache) {
    if (cache.enabled && !cache.slots) seen_.emplace(order, prompts);
    order_ = std::move(order.order);
  }

  action next() override {
    if (next_ == order_.size()) return finished{};
    const std::uint32_t item = order_[next_++];
    send out{.item = item, .slot = std::nullopt, .predicted_cached = predict(item)};
    last_ = item;
    unknown_ = false;
    if (seen_) seen_->sent(item);
    return out;
  }

  void on_first_token(std::uint32_t item) override {
    if (seen_) seen_->computed(item);
  }

  void on_end(std::uint32_t item, bool ok) override {
    if (seen_ && ok) seen_->computed(item);
    if (seen_ && !ok) seen_->failed(item);
    if (!ok && last_ == item) unknown_ = true;
  }

  void on_shared(bool /*ok*/) override {}

 private:
  std::optional<std::uint64_t> predict(std::uint32_t item) const {
    if (!cache_.enabled) return 0;
    const sequence& prompt = prompts_[item];
    if (seen_) {
      const std::uint32_t common = seen_->prefix(item);
      return common == 0 ? std::nullopt : std::optional(reusable(common, prompt));
    }
    if (*cache_.slots > 1 || unknown_) return std::nullopt;
    return last_ ? reusable(common_prefix(prompt, prompts_[*last_]), prompt) : 0;
  }

  std::span<const sequence> prompts_;
  cache_model cache_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::optional<seen> seen_;           ///< A common cache.
  std::optional<std::uint32_t> last_;  ///< What a single slot holds.
  bool unknown_ = false;
};

}  // namespace

std::unique_ptr<strategy> make_in_order(plan order, std::span<const sequence> prompts, cache_model cache) {
  return std::make_unique<in_order>(std::move(order), prompts, cache);
}

}  // namespace evalcore::prefix
