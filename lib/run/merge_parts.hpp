#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/merge_store.hpp"
#include "run/setup.hpp"

namespace evalcore::run {

/// The run of one part that is to be merged.
struct part {
  std::string path;
  stored_run run;
  run_setup setup;
};

/// The parts of one run: the newest run of the first file, and of each other its newest that belongs to the
/// same. Errors: not_found; busy; storage; invalid_argument, by name, for a file without such a run.
[[nodiscard]] result<std::vector<part>> read_parts(const std::vector<std::string>& paths);

/// The suite that a part was run on. `named`: empty: where the run found it; `answers`: as for suite::open().
/// Errors: bad_suite for another suite, or one that was changed; as suite::open().
[[nodiscard]] result<suite> open_suite(const part& of, const std::string& named, const std::string& answers);

[[nodiscard]] json::object identity_of(const stored_run& run);
/// Its members that are texts, as backend::info::identity has them.
[[nodiscard]] std::map<std::string, std::string> identity_texts(const stored_run& run);

/// What scored the run in the place of the items' own scorers; null: those did. Errors: as
/// score::find_scorer().
[[nodiscard]] result<std::shared_ptr<const score::scorer>> scorer_of(const run_setup& of);

}  // namespace evalcore::run
