#include <utility>

#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/suite.hpp>

#include "run/find_runs.hpp"
#include "run/stored_items.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

/// Reads one run. `size`: items of the suite that any of the runs was for.
result<scored_run> read_run(const part& from, const suite& what, std::size_t size) {
  scored_run out;
  out.path = from.path;
  out.model = from.setup.labels.model_name;
  out.task = from.setup.task;
  out.wall_s = from.run.wall_s;
  auto items = stored_items::open(from, what);
  if (!items) return std::move(items).error();
  summary totals;
  tally tokens(totals);
  for (std::size_t index = 0; index < size; ++index) {
    auto found = items->get(index);
    if (!found) return std::move(found).error();
    if (found->stored) tokens.tokens(found->stored->reply, std::nullopt);
    out.items.push_back(std::move(found->score));
  }
  out.prompt_tokens = totals.prompt_tokens;
  out.completion_tokens = totals.completion_tokens;
  if (from.setup.price) {
    auto spent = items->spent();
    if (!spent) return std::move(spent).error();
    out.spent = *spent;
  }
  return out;
}

}  // namespace

result<scored_runs> read_runs(const std::vector<std::string>& stores, const std::string& suite,
                              const std::string& answers) {
  const auto found = find_runs(stores, suite, answers);
  if (!found) return found.error();
  scored_runs out;
  out.suite = found->what.path();
  for (std::size_t index = 0; index < found->size; ++index) {
    auto item = found->what.get(index);
    if (!item) return std::move(item).error();
    out.ids.push_back(std::move(item->id));
    out.categories.push_back(std::move(item->category));
  }
  for (const auto& one : found->parts) {
    auto read = read_run(one, found->what, found->size);
    if (!read) return std::move(read).error();
    out.runs.push_back(*std::move(read));
  }
  return out;
}

}  // namespace evalcore::run
