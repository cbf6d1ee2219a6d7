#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/run/scored_runs.hpp>

namespace evalcore::test {

/// Two runs of one suite, items by their scores; absent: the item errored.
inline run::scored_runs two_runs(const std::vector<std::optional<double>>& first,
                                 const std::vector<std::optional<double>>& second) {
  run::scored_runs out;
  out.suite = "suite.jsonl";
  out.runs.resize(2);
  for (std::size_t i = 0; i < first.size(); ++i) {
    out.ids.push_back("i" + std::to_string(i));
    out.categories.emplace_back();
    for (const auto& [run, scores] : {std::pair(0, &first), std::pair(1, &second)}) {
      const auto& score = scores->at(i);
      out.runs[static_cast<std::size_t>(run)].items.push_back(
          score ? run::item_score{run::item_state::scored, *score, {}}
                : run::item_score{run::item_state::errored, 0, "timeout"});
    }
  }
  return out;
}

/// So many items of each kind, right in one run alone, in both or in none.
inline run::scored_runs counted_runs(std::size_t lost, std::size_t gained, std::size_t right,
                                     std::size_t wrong) {
  std::vector<std::optional<double>> first;
  std::vector<std::optional<double>> second;
  const auto add = [&](std::size_t count, double before, double after) {
    first.insert(first.end(), count, before);
    second.insert(second.end(), count, after);
  };
  add(lost, 1, 0);
  add(gained, 0, 1);
  add(right, 1, 1);
  add(wrong, 0, 0);
  return two_runs(first, second);
}

}  // namespace evalcore::test
