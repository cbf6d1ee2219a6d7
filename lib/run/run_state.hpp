#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evalcore/run/runner.hpp>

#include "run/answer_pairs.hpp"
#include "run/ledger.hpp"
#include "run/prepared_item.hpp"
#include "run/tally.hpp"

namespace evalcore::run {

class host_scoring;

/// What the parts of one run share. All of them work on the host's thread.
struct run_state {
  const suite& from;
  store& into;
  const run_options& how;
  const observer& watch;
  request_options request;  ///< As in `how`, with the tools mode decided.
  summary told = {};
  tally counts{told};
  ledger costs{told};
  progress now = {};
  std::vector<bool> twice =
      {};  ///< By position in the suite, whether an item is asked twice; empty: none is.
  std::optional<answer_pairs> pairs = {};  ///< There where some are.
  item_scorers scorers = item_scorers();
  /// Of the suite's first items that are to be sent, by position: to make one takes as long as to store the
  /// reply.
  std::unordered_map<std::size_t, item_record> records = {};
  host_scoring* host = nullptr;  ///< Where that is the host's, who asks it.

  run_state(const suite& what, store& kept_in, const run_options& options, const observer& watching)
      : from(what), into(kept_in), how(options), watch(watching), request(options.request) {}
  [[nodiscard]] result<prepared_item> read(std::size_t index, std::uint32_t epoch = 0) {
    return read_item(from, index, request, told.backend.identity, epoch, scorers);
  }
  /// Takes from `records`.
  [[nodiscard]] result<prepared_item> with_keys(std::size_t index, item one, chat::request prepared,
                                                std::uint32_t epoch) {
    auto known = epoch == 0 ? records.extract(index) : decltype(records)::node_type();
    return run::with_keys(std::move(one), std::move(prepared), from.hash(), told.backend.identity, epoch,
                          scorers, known ? std::optional(std::move(known.mapped())) : std::nullopt);
  }
  [[nodiscard]] bool asks_twice(std::size_t position) const { return pairs && twice[position]; }

  run_state(const run_state&) = delete;
  run_state& operator=(const run_state&) = delete;
};

}  // namespace evalcore::run
