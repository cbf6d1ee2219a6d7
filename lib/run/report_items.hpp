#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>

#include "run/report_text.hpp"
#include "run/stored_items.hpp"

namespace evalcore::run {

/// The items of a report as elements of a page, block after block as they fill, so that no more than two
/// blocks are held. A block is JSON, deflated and in base64, in a script element that no browser runs:
///
/// `data-rows`: what the table of all items needs, at once: {first, ids[], category[], runs[{state, value[],
/// ms[], tokens[]}]}; `state` has a letter for each item, the first of "scored", "unscored", "errored" and
/// "not_run".
///
/// `data-texts="FIRST COUNT"`: what is read when it is looked at: {fronts[], items[{prompt[[role, own,
/// front]], target, runs[{reply[[kind, text]], extracted, why}]}]}; an item is null once the page is full.
class report_items {
 public:
  using sink = std::function<result<void>(std::string_view)>;

  report_items(std::size_t runs, sink into);

  /// The next item: a reading of each run. Errors: the sink's.
  result<void> add(std::span<const stored_item> readings);
  /// After the last item.
  result<void> end();

  /// What `category` counts in.
  [[nodiscard]] const std::vector<std::string>& categories() const noexcept { return categories_; }
  /// Items without prompt and replies, since the page is full.
  [[nodiscard]] std::uint64_t without_text() const noexcept { return without_text_; }

 private:
  struct columns {
    std::string state;
    json::array value, ms, tokens;
  };

  void add_row(std::span<const stored_item> readings);
  [[nodiscard]] json::value texts_of(std::span<const stored_item> readings);
  [[nodiscard]] std::uint64_t category(const std::string& name);
  result<void> write_rows();
  result<void> write_texts();

  sink into_;
  std::vector<std::string> categories_;
  std::uint64_t count_ = 0;

  json::array ids_, category_;
  std::vector<columns> runs_;

  shared_fronts fronts_;
  std::string texts_;
  std::uint64_t texts_in_block_ = 0;
  std::size_t texts_written_ = 0;  ///< Bytes of the page.
  std::uint64_t without_text_ = 0;
};

}  // namespace evalcore::run
