#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/pool/source.hpp>

#include "run/budgeted_source.hpp"
#include "run/planned_source.hpp"
#include "run/run_state.hpp"

namespace evalcore::run {

/// What is to be sent, in the order of a plan, and within a budget where there are prices.
class outgoing {
 public:
  /// `pending` and `seconds`: positions in the suite, ascending; one that is in both goes out twice. `how`:
  /// with the bound on requests in flight that the run will keep to. Nothing to send: null. Errors: as
  /// plan_items().
  [[nodiscard]] static result<std::unique_ptr<outgoing>> plan(
      run_state& of, const std::vector<std::uint32_t>& pending, const std::vector<std::uint32_t>& seconds,
      net::loop& owner, const std::vector<backend::backend*>& endpoints, const pool::options& how,
      const std::stop_token& stop);

  /// Where the pool takes it from.
  [[nodiscard]] pool::source& source() {
    return budgeted_ ? static_cast<pool::source&>(*budgeted_) : *planned_;
  }
  /// Suite positions, by the pool's ids.
  [[nodiscard]] std::uint32_t position(pool::item_id id) const { return positions_[id]; }
  /// Whether it asks for a second answer.
  [[nodiscard]] bool second(pool::item_id id) const { return second_[id]; }
  [[nodiscard]] planned_source& planned() { return *planned_; }
  /// Of the cost of one attempt; absent: there are no prices, or nothing bounds it.
  [[nodiscard]] std::optional<pico_usd> bound(pool::item_id id) const {
    return budgeted_ ? budgeted_->bound(id) : std::nullopt;
  }
  /// See budgeted_source::stopped().
  [[nodiscard]] bool over_budget() const { return budgeted_ && budgeted_->stopped(); }
  /// For the store.
  [[nodiscard]] const std::string& plan_json() const { return plan_json_; }

 private:
  outgoing() = default;
  void add_seconds(prefix::plan& order, std::vector<std::uint32_t> places,
                   const std::vector<std::uint32_t>& pending, const std::vector<std::uint32_t>& seconds);

  std::vector<std::uint32_t> positions_;
  std::vector<bool> second_;
  std::unique_ptr<planned_source> planned_;
  std::unique_ptr<budgeted_source> budgeted_;
  std::string plan_json_;
};

}  // namespace evalcore::run
