#include "prefix/gain.hpp"
#include "prefix/pending.hpp"
#include "prefix/seen.hpp"
#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

/// One common cache: who would find notably more after a running request's first token waits for it.
class leader_first final : public strategy {
 public:
  leader_first(const plan& order, std::span<const sequence> prompts)
      : prompts_(prompts), pending_(order, prompts), seen_(order, prompts), min_prefix_(order.min_prefix) {}

  action next() override {
    if (pending_.empty()) return finished{};
    for (const std::uint32_t group : pending_.groups()) {
      const std::uint32_t item = pending_.head(group);
      const sequence& prompt = prompts_[item];
      const std::uint32_t now = seen_.computed_prefix(item);
      const std::uint32_t later = seen_.coming_prefix(item);
      if (worth_waiting(now, later, static_cast<std::uint32_t>(prompt.size()), min_prefix_)) continue;
      const std::uint32_t common = std::max(now, later);
      send out{.item = item, .slot = std::nullopt, .predicted_cached = std::nullopt};
      if (common > 0) out.predicted_cached = reusable(common, prompt);
      pending_.pop(group);
      seen_.sent(item);
      return out;
    }
    return hold{};
  }

  void on_first_token(std::uint32_t item) override { seen_.computed(item); }
  void on_end(std::uint32_t item, bool ok) override {
    if (ok) {
      seen_.computed(item);
    } else {
      seen_.failed(item);
    }
  }
  void on_shared(bool /*ok*/) override {}

 private:
  std::span<const sequence> prompts_;
  pending pending_;
  seen seen_;
  std::uint32_t min_prefix_;
};

}  // namespace

std::unique_ptr<strategy> make_leader_first(plan order, std::span<const sequence> prompts) {
  return std::make_unique<leader_first>(order, prompts);
}

}  // namespace evalcore::prefix
