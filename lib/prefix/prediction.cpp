#include <evalcore/prefix/prediction.hpp>

#include <algorithm>
#include <deque>

namespace evalcore::prefix {

prediction simulate(const plan& order, cache_model cache, std::uint32_t in_flight) {
  const std::size_t bound = std::max(in_flight, std::uint32_t{1});
  if (cache.slots) cache.slots = std::min(*cache.slots, static_cast<std::uint32_t>(bound));
  if (!cache.in_flight) cache.in_flight = static_cast<std::uint32_t>(bound);
  prediction out;
  out.cached.resize(order.order.size());
  dispatcher machine(order, cache);
  std::deque<std::uint32_t> running;
  const auto end_first = [&] {
    machine.on_end(running.front(), {});
    running.pop_front();
  };
  while (true) {
    if (running.size() == bound) end_first();
    const action what = machine.next({});
    if (std::holds_alternative<finished>(what)) break;
    if (const auto* go = std::get_if<send>(&what)) {
      out.cached[go->item] = go->predicted_cached;
      running.push_back(go->item);
    } else if (std::holds_alternative<share>(what)) {
      ++out.shares;
      machine.on_shared(true);
    } else {
      end_first();
    }
  }
  out.group_cached.resize(order.groups.size());
  for (std::uint32_t item = 0; item < out.cached.size(); ++item) {
    out.group_cached[order.group_of[item]] += out.cached[item].value_or(0);
    out.total_cached += out.cached[item].value_or(0);
  }
  return out;
}

}  // namespace evalcore::prefix
