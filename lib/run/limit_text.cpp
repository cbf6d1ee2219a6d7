#include "run/limit_text.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

#include <evalcore/base/json_optional.hpp>

namespace evalcore::run {

json::value limit_history(const std::vector<pool::limit_step>& changes) {
  json::array all;
  for (const auto& one : changes) {
    json::object change{{"after_s", seconds(one.after)},
                        {"limit", std::uint64_t{one.limit}},
                        {"why", std::string(name(one.why))}};
    if (one.tokens) change.emplace_back("tokens", static_cast<std::uint64_t>(std::llround(*one.tokens)));
    all.push_back(std::move(change));
  }
  return all;
}

std::string limits_json(const std::vector<pool::endpoint_figures>& of) {
  json::array all;
  for (const auto& one : of) {
    all.push_back(json::object{{"address", json::text_or_null(one.address)},
                               {"limit_history", limit_history(one.limit_history)}});
  }
  return json::to_text(all);
}

}  // namespace evalcore::run
