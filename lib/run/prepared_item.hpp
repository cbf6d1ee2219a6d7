#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/item_scorers.hpp"

namespace evalcore::run {

/// An item with what goes out for it and where that is kept.
struct prepared_item {
  item one;
  std::shared_ptr<const score::scorer> scorer;
  chat::request request;
  item_record record;
};

/// Under which the store keeps second answers.
inline constexpr std::uint32_t second_epoch = 1;

/// Errors: as suite::get(), item_scorers::of() and prepare().
[[nodiscard]] result<prepared_item> read_item(const suite& from, std::size_t index,
                                              const request_options& how,
                                              const std::map<std::string, std::string>& identity,
                                              std::uint32_t epoch, item_scorers& scorers);

/// The same of an item that was read, and prepared. `known`: its record, where that was made before. Errors:
/// as item_scorers::of().
[[nodiscard]] result<prepared_item> with_keys(item one, chat::request request, const std::string& suite_hash,
                                              const std::map<std::string, std::string>& identity,
                                              std::uint32_t epoch, item_scorers& scorers,
                                              std::optional<item_record> known = {});

/// What the scorer looks at; refers to the item.
[[nodiscard]] score::task task_of(const item& one);

}  // namespace evalcore::run
