#include "run/ledger.hpp"

namespace evalcore::run {

result<void> ledger::payable(const std::string& item_id, const chat::request& request) const {
  if (!into_.cost || !into_.cost->max || cost_bound(request, std::nullopt, into_.cost->price)) return {};
  const bool open_end = !request.params.max_tokens;
  return fail(errc::invalid_argument, stage::config,
              "what item \"" + item_id + "\" can cost has no bound, which --max-cost needs: " +
                  (open_end ? "give --max-tokens, or the item `max_tokens`"
                            : "nobody tells beforehand how many tokens an image has; leave --max-cost out"));
}

void ledger::reused(const chat::request& request, const chat::reply& reply) {
  if (!into_.cost) return;
  const auto& at = into_.cost->price;
  into_.cost->spent += cost_of(reply, cost_bound(request, std::nullopt, at), at);
}

std::optional<cost> ledger::sent(std::optional<pico_usd> bound) const {
  return into_.cost ? std::optional(cost{0, bound}) : std::nullopt;
}

std::optional<cost> ledger::ended(const result<chat::reply>& outcome, std::optional<pico_usd> bound) {
  if (!into_.cost) return std::nullopt;
  const auto charged = cost_of(outcome, bound, into_.cost->price);
  into_.cost->sent += charged;
  return charged;
}

void ledger::close() {
  if (into_.cost) into_.cost->spent += into_.cost->sent;
}

std::string ledger::over_budget() const {
  auto spent = into_.cost->spent;
  spent += into_.cost->sent;
  return "the next request could cost more than what --max-cost " + usd_text(*into_.cost->max) +
         " leaves after " + usd_text(spent);
}

}  // namespace evalcore::run
