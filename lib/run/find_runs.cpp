#include "run/find_runs.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

result<found_runs> find_runs(const std::vector<std::string>& stores, const std::string& suite,
                             const std::string& answers) {
  auto parts = parts_of(stores);
  if (!parts) return std::move(parts).error();
  if (parts->empty()) return fail(errc::invalid_argument, stage::config, "name at least one run");
  auto what = open_suite(parts->front(), suite, answers);
  if (!what) return std::move(what).error();
  std::size_t size = 0;
  for (const auto& one : *parts) size = std::max<std::size_t>(size, one.setup.items);
  size = std::min(size, what->size());
  return found_runs{*std::move(parts), *std::move(what), size};
}

}  // namespace evalcore::run
