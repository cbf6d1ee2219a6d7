#include <evalcore/prefix/dispatch.hpp>

#include <utility>

#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

std::unique_ptr<strategy> choose(const plan& order, cache_model cache) {
  if (order.suite_order || !cache.enabled) return make_in_order(order, cache);
  if (cache.slots) return make_slotted(order, cache);
  return make_rotating(order, cache);
}

}  // namespace

dispatcher::dispatcher(plan order, cache_model cache)
    : plan_(std::make_unique<const plan>(std::move(order))), strategy_(choose(*plan_, cache)) {}
dispatcher::~dispatcher() = default;
dispatcher::dispatcher(dispatcher&&) noexcept = default;
dispatcher& dispatcher::operator=(dispatcher&&) noexcept = default;

action dispatcher::next(instant now) { return strategy_->next(now); }
void dispatcher::on_first_token(std::uint32_t item, instant now) { strategy_->on_first_token(item, now); }
void dispatcher::on_retry(std::uint32_t item, instant now) { strategy_->on_retry(item, now); }
void dispatcher::on_pause(bool paused, instant now) { strategy_->on_pause(paused, now); }
void dispatcher::on_end(std::uint32_t item, const ending& how) { strategy_->on_end(item, how); }
void dispatcher::on_shared(bool ok) { strategy_->on_shared(ok); }
planning dispatcher::state() const { return strategy_->state(); }

}  // namespace evalcore::prefix
