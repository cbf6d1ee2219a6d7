#include <evalcore/score/scorer.hpp>

#include <string>

#include "score/scorers.hpp"

namespace evalcore::score {

std::vector<std::string_view> scorer_names() { return {"exact", "numeric", "bfcl", "choice", "none"}; }

result<std::shared_ptr<const scorer>> find_scorer(std::string_view name) {
  if (name == "exact") return make_exact();
  if (name == "numeric") return make_numeric();
  if (name == "bfcl") return make_bfcl();
  if (name == "choice") return make_choice();
  if (name == "none") return make_none();
  std::string choices;
  for (const auto one : scorer_names()) choices.append(choices.empty() ? "" : ", ").append(one);
  return fail(errc::not_found, stage::config,
              "no scorer \"" + std::string(name) + "\"; there are: " + choices);
}

}  // namespace evalcore::score
