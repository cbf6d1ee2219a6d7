#include "run/stored_items.hpp"

#include "run/answers.hpp"

namespace evalcore::run {
namespace {

item_score of_failure(const std::string& code) {
  if (code.empty() || code == name(errc::cancelled)) return {};
  return {item_state::errored, 0, code};
}

item_score of_verdict(const score::verdict& what) {
  return what.scored ? item_score{item_state::scored, what.value, {}}
                     : item_score{item_state::unscored, 0, what.reason};
}

}  // namespace

result<stored_items> stored_items::open(const part& from, const suite& what) {
  auto named = scorer_of(from.setup);
  if (!named) return std::move(named).error();
  auto opened = store::open_to_read(from.path);
  if (!opened) return std::move(opened).error();
  auto failed = opened->last_failures();
  if (!failed) return std::move(failed).error();
  stored_items out(what, from.setup.request, item_scorers(*std::move(named)), *std::move(opened));
  out.failures_ = *std::move(failed);
  out.identity_ = identity_texts(from.run);
  return out;
}

result<stored_item> stored_items::get(std::size_t index) {
  auto item = read_item(*suite_, index, how_, identity_, 0, scorers_);
  if (!item) return std::move(item).error();
  auto stored = store_.find(item->record);
  if (!stored) return std::move(stored).error();
  stored_item out{*std::move(item), *std::move(stored), {}, {}};
  if (out.stored) {
    out.verdict = verdict_on(out.what, *out.stored).value_or(score::verdict{});
    out.score = of_verdict(out.verdict);
  } else {
    const auto& record = out.what.record;
    const auto failed = failures_.find({record.item_key, record.cache_key});
    out.score = of_failure(failed == failures_.end() ? std::string() : failed->second);
  }
  return out;
}

}  // namespace evalcore::run
