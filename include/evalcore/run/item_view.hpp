#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// All that a run's store and its suite tell of one item.
struct item_view {
  std::string run_id;
  std::string suite;
  std::string model;  ///< As the rows name it.
  std::map<std::string, std::string> identity;
  std::string options_json;  ///< The run's, without secrets.
  std::size_t position = 0;  ///< In the suite, from 0.
  std::size_t items = 0;     ///< Of the run.
  item one;
  /// As it was sent, with the slot of the attempt that was answered; other hints to caches are not kept.
  chat::request request;
  std::shared_ptr<const score::scorer> scorer;
  item_history history;
  std::optional<chat::reply> reply;
  score::verdict verdict;  ///< With its steps; of a host's scorer there are none.
  item_score score;
};

/// The first answer of an item of the newest run of a store. Errors: as read_runs(); not_found, naming ids
/// that are near, for one that the run was not for.
[[nodiscard]] result<item_view> view_item(const std::string& store, const std::string& id,
                                          const std::string& suite, const std::string& answers);

/// Scores another reply to it, with the steps. Unscored where a host scored the run.
[[nodiscard]] score::verdict score_again(const item_view& of, const chat::reply& reply);

/// Up to `most` of the ids that are most like `id`, the likest first; those that have little of it in common
/// are left out.
[[nodiscard]] std::vector<std::string> near_ids(const std::string& id, const std::vector<std::string>& all,
                                                std::size_t most = 3);

/// {run_id, suite, model, identity, item, request, attempts[], reply, score}; docs/outputs.md lists the
/// members. Unknown figures are null.
[[nodiscard]] json::value to_json(const item_view& of);
/// {state, value, extracted, reason, steps[]}.
[[nodiscard]] json::value to_json(const item_score& state, const score::verdict& what);

}  // namespace evalcore::run
