#include "run/prepared_item.hpp"

#include <string>
#include <utility>

namespace evalcore::run {

result<prepared_item> read_item(const suite& from, std::size_t index, const request_options& how,
                                const std::map<std::string, std::string>& identity, std::uint32_t epoch,
                                std::shared_ptr<const score::scorer> scorer) {
  auto one = from.get(index);
  if (!one) return std::move(one).error();
  if (!scorer) {
    auto own = score::find_scorer(one->scorer);
    if (!own) return std::move(own).error();
    scorer = *std::move(own);
  }
  auto request = prepare(*one, how);
  if (!request) return std::move(request).error();
  item_record record{item_key(from.hash(), one->id, epoch, std::string(scorer->name())),
                     cache_key(identity, request->model, canonical_text(*request), epoch), one->id, epoch};
  return prepared_item{*std::move(one), std::move(scorer), *std::move(request), std::move(record)};
}

score::task task_of(const item& one) {
  return {&one.target, &one.request.tools, one.category, &one.request.choices};
}

}  // namespace evalcore::run
