#include <evalcore/run/item_view.hpp>

#include <algorithm>
#include <utility>

#include "run/host_scoring.hpp"
#include "run/merge_parts.hpp"
#include "run/stored_items.hpp"

namespace evalcore::run {
namespace {

/// How many characters must be put in, left out or changed to make one of the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

error no_item(const std::string& store, const std::string& id, const std::vector<std::string>& all) {
  std::string message = "the run in " + store + " has no item \"" + id + "\"";
  const auto near = near_ids(id, all);
  for (std::size_t i = 0; i < near.size(); ++i) {
    message += (i == 0 ? "; near it are \"" : ", \"") + near[i] + "\"";
  }
  if (near.empty() && !all.empty())
    message += "; the first of its " + std::to_string(all.size()) + " is \"" + all.front() + "\"";
  return fail(errc::not_found, stage::suite, std::move(message));
}

result<std::size_t> position_of(const std::string& id, const std::string& store, const suite& in,
                                std::size_t items) {
  std::vector<std::string> all;
  for (std::size_t index = 0; index < items; ++index) {
    auto one = in.get(index);
    if (!one) return std::move(one).error();
    if (one->id == id) return index;
    all.push_back(std::move(one->id));
  }
  return no_item(store, id, all);
}

}  // namespace

std::vector<std::string> near_ids(const std::string& id, const std::vector<std::string>& all,
                                  std::size_t most) {
  // What is longer than any id that a person types is compared by its beginning.
  constexpr std::size_t longest = 200;
  const auto wanted = std::string_view(id).substr(0, longest);
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const auto& one : all) {
    const auto held = std::string_view(one).substr(0, longest);
    const auto apart = distance(wanted, held);
    if (2 * apart <= std::max(wanted.size(), held.size())) found.emplace_back(apart, &one);
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) out.push_back(*found[i].second);
  return out;
}

score::verdict score_again(const item_view& of, const chat::reply& reply) {
  score::verdict none;
  none.reason = "its host scores the run";
  if (is_hosts(*of.scorer)) return none;
  auto task = task_of(of.one);
  task.explain = true;
  return of.scorer->score(task, reply);
}

result<item_view> view_item(const std::string& store, const std::string& id, const std::string& suite,
                            const std::string& answers) {
  const auto parts = read_parts({store});
  if (!parts) return parts.error();
  const auto& from = parts->front();
  const auto what = open_suite(from, suite, answers);
  if (!what) return what.error();
  item_view out;
  out.items = std::min<std::size_t>(what->size(), from.setup.items);
  const auto position = position_of(id, store, *what, out.items);
  if (!position) return position.error();
  auto items = stored_items::open(from, *what);
  if (!items) return std::move(items).error();
  auto found = items->get(*position);
  if (!found) return std::move(found).error();
  auto history = items->history_of(found->what.record);
  if (!history) return std::move(history).error();
  out.run_id = from.run.run_id;
  out.suite = what->path();
  out.model = from.setup.labels.model_name;
  out.identity = identity_texts(from.run);
  out.options_json = from.run.options;
  out.position = *position;
  out.one = std::move(found->what.one);
  out.request = std::move(found->what.request);
  out.scorer = std::move(found->what.scorer);
  out.history = *std::move(history);
  if (!out.history.attempts.empty()) out.request.hints.slot = out.history.attempts.back().slot;
  out.score = std::move(found->score);
  out.verdict = std::move(found->verdict);
  if (found->stored) {
    out.reply = std::move(found->stored->reply);
    if (!is_hosts(*out.scorer)) out.verdict = score_again(out, *out.reply);
  }
  return out;
}

}  // namespace evalcore::run
