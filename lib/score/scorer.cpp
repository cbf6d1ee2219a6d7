#include <evalcore/score/scorer.hpp>

#include <array>
#include <string>
#include <utility>

#include "score/scorers.hpp"

namespace evalcore::score {
namespace {

struct entry {
  std::string_view name;
  made_scorer (*make)(const options&);
};
constexpr std::array entries{
    entry{"exact", make_exact},
    entry{"includes", make_includes},
    entry{"regex", make_regex},
    entry{"numeric", make_numeric},
    entry{"letter", make_letter},
    entry{"f1", make_f1},
    entry{"math", make_math},
    entry{"json", make_json},
    entry{"json_schema", make_json_schema},
    entry{"bfcl", make_bfcl},
    entry{"bfcl_strict", make_bfcl_strict},
    entry{"choice", make_choice},
    entry{"brier", make_brier},
    entry{"perplexity", make_perplexity},
    entry{"none", make_none},
};

made_scorer make(const std::string& name, json::object members) {
  for (const auto& one : entries) {
    if (one.name == name) return one.make(options(name, std::move(members)));
  }
  std::string choices;
  for (const auto& one : entries) choices.append(choices.empty() ? "" : ", ").append(one.name);
  return fail(errc::not_found, stage::config, "no scorer \"" + name + "\"; there are: " + choices);
}

}  // namespace

std::vector<std::string_view> scorer_names() {
  std::vector<std::string_view> out;
  for (const auto& one : entries) out.push_back(one.name);
  return out;
}

made_scorer find_scorer(std::string_view named) {
  if (!named.starts_with('{')) return make(std::string(named), {});
  const auto parsed = json::parse(named, json::repeated_keys::refused);
  if (!parsed) return fail(errc::invalid_argument, stage::config, "a scorer is " + parsed.error().message);
  json::object members = *parsed->if_object();
  std::string name;
  for (auto at = members.begin(); at != members.end(); ++at) {
    if (at->first != "name") continue;
    if (const auto* text = at->second.if_string()) name = *text;
    members.erase(at);
    break;
  }
  return make(name, std::move(members));
}

}  // namespace evalcore::score
