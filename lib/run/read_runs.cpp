#include <algorithm>
#include <utility>

#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/suite.hpp>

#include "run/merge_parts.hpp"
#include "run/stored_items.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

error differ(std::string what) { return fail(errc::invalid_argument, stage::store, std::move(what)); }

result<std::vector<part>> parts_of(const std::vector<std::string>& stores) {
  std::vector<part> out;
  for (const auto& path : stores) {
    auto read = read_parts({path});
    if (!read) return std::move(read).error();
    out.push_back(std::move(read->front()));
    const auto& first = out.front();
    const auto& last = out.back();
    if (last.run.suite_hash != first.run.suite_hash) {
      return differ(path + " holds answers to another suite (" + last.run.suite_path + ") than " +
                    first.path + " (" + first.run.suite_path + "); items are compared within one suite");
    }
    if (last.setup.host_scorer != first.setup.host_scorer ||
        last.setup.scorer_named != first.setup.scorer_named) {
      return differ(path + " was scored by another scorer than " + first.path);
    }
  }
  return out;
}

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
  const auto parts = parts_of(stores);
  if (!parts) return parts.error();
  if (parts->empty()) return fail(errc::invalid_argument, stage::config, "name at least one run");
  const auto what = open_suite(parts->front(), suite, answers);
  if (!what) return what.error();
  std::size_t size = 0;
  for (const auto& one : *parts) size = std::max<std::size_t>(size, one.setup.items);
  size = std::min(size, what->size());
  scored_runs out;
  out.suite = what->path();
  for (std::size_t index = 0; index < size; ++index) {
    auto item = what->get(index);
    if (!item) return std::move(item).error();
    out.ids.push_back(std::move(item->id));
    out.categories.push_back(std::move(item->category));
  }
  for (const auto& one : *parts) {
    auto read = read_run(one, *what, size);
    if (!read) return std::move(read).error();
    out.runs.push_back(*std::move(read));
  }
  return out;
}

}  // namespace evalcore::run
