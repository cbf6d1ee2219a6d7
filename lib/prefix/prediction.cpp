#include <evalcore/prefix/prediction.hpp>

#include <algorithm>
#include <deque>

namespace evalcore::prefix {

prediction simulate(const plan& order, std::span<const sequence> prompts, cache_model cache,
                    std::uint32_t in_flight) {
  const std::size_t bound = std::max(in_flight, std::uint32_t{1});
  if (cache.slots) cache.slots = std::min(*cache.slots, static_cast<std::uint32_t>(bound));
  prediction out;
  out.cached.resize(prompts.size());
  dispatcher machine(order, prompts, cache);
  std::deque<std::uint32_t> running;
  const auto end_first = [&] {
    machine.on_end(running.front(), true);
    running.pop_front();
  };
  while (true) {
    if (running.size() == bound) end_first();
    const action what = machine.next();
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
  for (const group& one : order.groups) {
    std::uint64_t sum = 0;
    for (const std::uint32_t item : one.members) sum += out.cached[item].value_or(0);
    out.group_cached.push_back(sum);
    out.total_cached += sum;
  }
  return out;
}

}  // namespace evalcore::prefix
