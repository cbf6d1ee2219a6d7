#include "run/prepared_item.hpp"

#include <string>
#include <utility>

namespace evalcore::run {

result<prepared_item> read_item(const suite& from, std::size_t index, const request_options& how,
                                const std::map<std::string, std::string>& identity, std::uint32_t epoch,
                                item_scorers& scorers) {
  auto one = from.get(index);
  if (!one) return std::move(one).error();
  auto request = prepare(*one, how);
  if (!request) return std::move(request).error();
  return with_keys(*std::move(one), *std::move(request), from.hash(), identity, epoch, scorers);
}

result<prepared_item> with_keys(item one, chat::request request, const std::string& suite_hash,
                                const std::map<std::string, std::string>& identity, std::uint32_t epoch,
                                item_scorers& scorers, std::optional<item_record> known) {
  auto scorer = scorers.of(one);
  if (!scorer) return std::move(scorer).error();
  if (!known) {
    known = {item_key(suite_hash, one.id, epoch, std::string((*scorer)->name())),
             cache_key(identity, request.model, canonical_text(request), epoch), one.id, epoch};
  }
  return prepared_item{std::move(one), *std::move(scorer), std::move(request), *std::move(known)};
}

score::task task_of(const item& one) {
  return {&one.target, &one.request.tools, one.category, &one.request.choices};
}

}  // namespace evalcore::run
