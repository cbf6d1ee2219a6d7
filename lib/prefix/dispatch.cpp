#include <evalcore/prefix/dispatch.hpp>

#include <utility>

#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

std::unique_ptr<strategy> choose(plan&& order, std::span<const sequence> prompts, cache_model cache) {
  if (order.suite_order || !cache.enabled) return make_in_order(std::move(order), prompts, cache);
  if (cache.slots) return make_slotted(std::move(order), prompts, cache);
  return make_leader_first(std::move(order), prompts);
}

}  // namespace

dispatcher::dispatcher(plan order, std::span<const sequence> prompts, cache_model cache)
    : strategy_(choose(std::move(order), prompts, cache)) {}
dispatcher::~dispatcher() = default;
dispatcher::dispatcher(dispatcher&&) noexcept = default;
dispatcher& dispatcher::operator=(dispatcher&&) noexcept = default;

action dispatcher::next() { return strategy_->next(); }
void dispatcher::on_first_token(std::uint32_t item) { strategy_->on_first_token(item); }
void dispatcher::on_end(std::uint32_t item, bool ok) { strategy_->on_end(item, ok); }
void dispatcher::on_shared(bool ok) { strategy_->on_shared(ok); }

}  // namespace evalcore::prefix
