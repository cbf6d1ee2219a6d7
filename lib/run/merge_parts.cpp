#include "run/merge_parts.hpp"

#include <algorithm>
#include <utility>

#include "run/host_scoring.hpp"

namespace evalcore::run {
namespace {

error foreign(std::string what) { return fail(errc::invalid_argument, stage::store, std::move(what)); }

result<part> part_of(const std::string& path, const stored_run& run) {
  auto setup = setup_from(run.setup);
  if (!setup) {
    return foreign(path +
                   " was made by an earlier evalcore, which did not keep how it was run; the same command "
                   "again brings it up to date and asks nothing twice");
  }
  return part{path, run, *std::move(setup)};
}

/// The first member in which two objects differ, with both values.
std::string difference(const json::object& a, const std::string& in_a, const json::value& b,
                       const std::string& in_b) {
  for (const auto& [key, value] : a) {
    const auto* other = b.find(key);
    if (other != nullptr && *other == value) continue;
    const auto shown = [](const json::value& one) {
      const auto* text = one.if_string();
      return text != nullptr ? *text : one.is_null() ? "none" : json::to_text(one);
    };
    return key + " is " + (other == nullptr ? "unknown" : shown(*other)) + " in " + in_b + " and " +
           shown(value) + " in " + in_a;
  }
  return "";
}

/// The newest run of a part that belongs to the same run as the first part's.
result<part> matching(const std::string& path, const part& first) {
  const auto runs = runs_of(path);
  if (!runs) return runs.error();
  if (runs->empty()) return foreign(path + " holds no run");
  const auto fits = std::ranges::find_if(*runs, [&](const stored_run& one) {
    return one.suite_hash == first.run.suite_hash && one.identity == first.run.identity;
  });
  if (fits == runs->end()) {
    const auto& newest = runs->front();
    if (newest.suite_hash != first.run.suite_hash) {
      return foreign(path + " holds answers to another suite (" + newest.suite_path + ") than " + first.path +
                     " (" + first.run.suite_path + "); merge takes parts of one run");
    }
    return foreign(path + " holds answers of another backend than " + first.path + ": " +
                   difference(identity_of(first.run), first.path, identity_of(newest), path) +
                   "; merge takes parts of one run");
  }
  auto found = part_of(path, *fits);
  if (!found) return found;
  const auto differs = difference(common_of(first.setup), first.path, common_of(found->setup), path);
  if (!differs.empty()) {
    return foreign(path + " was run with other options than " + first.path + ": " + differs +
                   "; merge takes parts of one run");
  }
  return found;
}

}  // namespace

json::object identity_of(const stored_run& run) {
  const auto root = json::parse(run.identity);
  const auto* members = root ? root->if_object() : nullptr;
  return members != nullptr ? *members : json::object();
}

std::map<std::string, std::string> identity_texts(const stored_run& run) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : identity_of(run)) {
    if (const auto* text = value.if_string()) out.emplace(key, *text);
  }
  return out;
}

result<suite> open_suite(const part& of, const std::string& named, const std::string& answers) {
  const auto mend = "; --suite and --answers say where the suite of " + of.path + " is";
  auto opened = suite::open(named.empty() ? of.run.suite_path : named, answers);
  if (!opened) {
    auto why = std::move(opened).error();
    why.message += mend;
    return why;
  }
  if (opened->hash() == of.run.suite_hash) return opened;
  return fail(errc::bad_suite, stage::suite,
              opened->path() + " is not, or no longer, the suite of " + of.path + mend);
}

result<std::shared_ptr<const score::scorer>> scorer_of(const run_setup& of) {
  if (!of.scorer_named.empty()) return score::find_scorer(of.scorer_named);
  return of.host_scorer.empty() ? nullptr : scored_by_host(of.host_scorer);
}

result<std::vector<part>> read_parts(const std::vector<std::string>& paths) {
  std::vector<part> parts;
  for (const auto& path : paths) {
    if (parts.empty()) {
      const auto runs = runs_of(path);
      if (!runs) return runs.error();
      if (runs->empty()) return foreign(path + " holds no run");
      auto first = part_of(path, runs->front());
      if (!first) return std::move(first).error();
      parts.push_back(*std::move(first));
      continue;
    }
    auto next = matching(path, parts.front());
    if (!next) return std::move(next).error();
    parts.push_back(*std::move(next));
  }
  return parts;
}

}  // namespace evalcore::run
