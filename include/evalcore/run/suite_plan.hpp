#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/ask_again.hpp>
#include <evalcore/backend/backend.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/prefix/plan.hpp>
#include <evalcore/prefix/prediction.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/plan_cost.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// A plan of a suite to look at before anything is sent.
struct suite_plan {
  prefix::plan plan;
  prefix::prediction prediction;
  std::string tools;  ///< "native" or "text".
  std::optional<std::uint32_t> slots;
  std::vector<std::string> ids;  ///< As the items were dealt; the plan counts these.
  std::optional<planned_cost> cost;
};

struct suite_plan_options {
  std::optional<std::size_t> limit;  ///< Only the first so many items.
  bool suite_order = false;
  request_options request;
  std::uint32_t max_in_flight = 16;
  const price_list* prices = nullptr;            ///< Null: costs are not counted.
  std::string model;                             ///< Whose prices they are, where no backend says it.
  std::optional<std::uint64_t> expected_output;  ///< Tokens of an answer.
};

/// Who tells what the model sees and how its cache works.
struct planning_backend {
  net::loop& owner;
  backend::backend& to;
  backend::ask_again again;
  std::function<void(const std::string&)> note;
  std::stop_token stop;
};

/// `with` null: nothing is known of the backend, so the plan counts bytes and assumes a cache that finds any
/// common prefix. Errors: those of plan_items() and choose_tools_mode(); price_list::find()'s.
[[nodiscard]] result<suite_plan> plan_suite(const suite& from, const suite_plan_options& how,
                                            const planning_backend* with);

/// Tokens or bytes of the prompts of each of its groups.
[[nodiscard]] std::vector<std::uint64_t> group_units(const prefix::plan& plan);

/// Tokens or bytes of its longest prompt, which a slot's context must hold beside an answer.
[[nodiscard]] std::uint32_t longest_prompt(const prefix::plan& plan);

/// As `evalcore plan --json` tells it.
[[nodiscard]] json::value to_json(const suite_plan& of, const suite& from);

}  // namespace evalcore::run
