#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/pool/source.hpp>
#include <evalcore/prefix/cut_points.hpp>
#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/plan.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// An item as it was read and prepared.
struct sent_item {
  item one;
  chat::request request;
};

/// What was decided when an item went out.
struct dispatched {
  std::optional<sent_item> what;  ///< Absent: it did not go out.
  std::optional<std::uint32_t> slot;
  std::optional<std::uint64_t> predicted_cached;
};

/// Hands the planner's choices to the pool: an item's body is read again when it goes out.
class planned_source final : public pool::source {
 public:
  /// `from`, `pending` and `how` must outlive it. `keeps_where_told`: the backend wants to hear where prompts
  /// part.
  planned_source(const suite& from, const std::vector<std::uint32_t>& pending, const request_options& how,
                 prefix::plan order, prefix::cache_model cache, std::optional<std::uint64_t> context,
                 bool keeps_where_told)
      : from_(from), pending_(pending), how_(how), context_(context), dispatch_(std::move(order), cache) {
    if (keeps_where_told) cuts_.emplace(dispatch_.order());
  }

  pool::pull next() override {
    auto action = dispatch_.next(std::chrono::steady_clock::now());
    state_ = dispatch_.state();
    if (failure_) return pool::exhausted{};
    if (const auto* one = std::get_if<prefix::send>(&action)) {
      if (too_long(one->item)) return refuse(one->item);
      return work_for(*one);
    }
    if (auto* copy = std::get_if<prefix::share>(&action))
      return pool::share_prefix{copy->from, std::move(copy->to)};
    if (const auto* held = std::get_if<prefix::hold>(&action)) return pool::hold{held->until};
    return pool::exhausted{};
  }
  void on_first_token(pool::item_id id) override {
    dispatch_.on_first_token(static_cast<std::uint32_t>(id), std::chrono::steady_clock::now());
  }
  void on_pause(bool paused) override { dispatch_.on_pause(paused, std::chrono::steady_clock::now()); }
  void on_retry(pool::item_id id, const error& /*why*/) override {
    dispatch_.on_retry(static_cast<std::uint32_t>(id), std::chrono::steady_clock::now());
  }
  void on_end(pool::item_id id, const result<chat::reply>& outcome) override {
    prefix::ending how{.ok = outcome.has_value()};
    if (outcome) how.cached = outcome->usage.cached_tokens;
    dispatch_.on_end(static_cast<std::uint32_t>(id), how);
  }
  void on_shared(const result<void>& outcome) override { dispatch_.on_shared(outcome.has_value()); }

  /// The file changed since it was checked: nothing more goes out. To be read once the pool has drained.
  [[nodiscard]] const std::optional<error>& failure() const { return failure_; }
  /// What was decided for an item that went out; once. Any thread.
  [[nodiscard]] dispatched take_sent(pool::item_id id) {
    const std::lock_guard lock(mutex_);
    auto found = sent_.extract(id);
    return found ? std::move(found.mapped()) : dispatched{};
  }
  /// Any thread.
  [[nodiscard]] prefix::planning planning() const { return state_; }

 private:
  [[nodiscard]] std::uint32_t length(std::uint32_t item) const { return dispatch_.order().lengths[item]; }
  [[nodiscard]] bool exact() const { return dispatch_.order().exact; }
  [[nodiscard]] std::uint64_t prompt_tokens(std::uint32_t item) const {
    return length(item) / dispatch_.order().units_per_token();
  }
  /// Only counted tokens prove it.
  [[nodiscard]] bool too_long(std::uint32_t item) const {
    return exact() && context_ && length(item) >= *context_;
  }
  pool::pull refuse(std::uint32_t item) {
    dispatch_.on_end(item, {.ok = false});
    return pool::refused{item, fail(errc::context_overflow, stage::send,
                                    "its prompt of " + std::to_string(length(item)) +
                                        " tokens leaves no room in the backend's context of " +
                                        std::to_string(*context_) + " tokens; it was not sent")};
  }

  pool::pull work_for(const prefix::send& one) {
    auto read = from_.get(pending_[one.item]);
    auto request = read ? prepare(*read, how_) : result<chat::request>(read.error());
    if (!request) {
      failure_ = std::move(request).error();
      return pool::exhausted{};
    }
    // Groups count from 1 for endpoint affinity.
    const std::uint64_t group = std::uint64_t{dispatch_.order().group_of[one.item]} + 1;
    pool::work work{one.item, *request, group, prompt_tokens(one.item)};
    work.request.hints.slot = one.slot;
    if (cuts_ && exact()) work.request.hints.shared_tokens = cuts_->of(one.item);
    dispatched made{sent_item{*std::move(read), *std::move(request)}, one.slot,
                    exact() ? one.predicted_cached : std::nullopt};
    const std::lock_guard lock(mutex_);
    sent_.insert_or_assign(one.item, std::move(made));
    return work;
  }

  const suite& from_;
  const std::vector<std::uint32_t>& pending_;
  const request_options& how_;
  std::optional<std::uint64_t> context_;  ///< Tokens, of one request.
  prefix::dispatcher dispatch_;
  std::optional<prefix::cut_points> cuts_;
  std::optional<error> failure_;
  std::atomic<prefix::planning> state_ = prefix::planning::whole;
  std::mutex mutex_;
  std::unordered_map<pool::item_id, dispatched> sent_;  ///< Until they are taken.
};

}  // namespace evalcore::run
