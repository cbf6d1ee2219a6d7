#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/pool/source.hpp>
#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/plan.hpp>
#include <evalcore/run/planning.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// What was decided when an item went out. Written on the loop before its `started` event, read after it.
struct dispatched {
  std::optional<std::uint32_t> slot;
  std::optional<std::uint64_t> predicted_cached;
};

/// Hands the planner's choices to the pool: an item's body is read again when it goes out.
class planned_source final : public pool::source {
 public:
  /// `from`, `pending`, `how` and `prompts` must outlive it.
  planned_source(const suite& from, const std::vector<std::size_t>& pending, const request_options& how,
                 prefix::plan order, const prompts& prompts, prefix::cache_model cache,
                 std::optional<std::uint64_t> context)
      : from_(from),
        pending_(pending),
        how_(how),
        prompts_(prompts),
        context_(context),
        group_of_(pending.size()),
        sent_(pending.size()),
        dispatch_(numbered(std::move(order)), prompts.units, cache) {}

  pool::pull next() override {
    auto action = dispatch_.next();
    if (failure_) return pool::exhausted{};
    if (const auto* one = std::get_if<prefix::send>(&action)) {
      if (too_long(one->item)) return refuse(one->item);
      return work_for(*one);
    }
    if (auto* copy = std::get_if<prefix::share>(&action))
      return pool::share_prefix{copy->from, std::move(copy->to)};
    if (std::holds_alternative<prefix::hold>(action)) return pool::hold{};
    return pool::exhausted{};
  }
  void on_first_token(pool::item_id id) override { dispatch_.on_first_token(static_cast<std::uint32_t>(id)); }
  void on_end(pool::item_id id, const result<chat::reply>& outcome) override {
    dispatch_.on_end(static_cast<std::uint32_t>(id), outcome.has_value());
  }
  void on_shared(const result<void>& outcome) override { dispatch_.on_shared(outcome.has_value()); }

  /// The file changed since it was checked: nothing more goes out. To be read once the pool has drained.
  [[nodiscard]] const std::optional<error>& failure() const { return failure_; }
  [[nodiscard]] const dispatched& sent(pool::item_id id) const { return sent_[id]; }

 private:
  /// Numbers the groups from 1, for endpoint affinity.
  prefix::plan numbered(prefix::plan order) {
    std::uint32_t number = 0;
    for (const auto& group : order.groups) {
      ++number;
      for (const std::uint32_t item : group.members) group_of_[item] = number;
    }
    return order;
  }

  [[nodiscard]] std::uint64_t prompt_tokens(std::uint32_t item) const {
    constexpr std::uint64_t bytes_per_token = 4;  // Roughly, in English and code.
    const std::uint64_t units = prompts_.units[item].size();
    return prompts_.exact ? units : units / bytes_per_token;
  }
  /// Only counted tokens prove it.
  [[nodiscard]] bool too_long(std::uint32_t item) const {
    return prompts_.exact && context_ && prompts_.units[item].size() >= *context_;
  }
  pool::pull refuse(std::uint32_t item) {
    dispatch_.on_end(item, false);
    return pool::refused{item, fail(errc::context_overflow, stage::send,
                                    "its prompt of " + std::to_string(prompts_.units[item].size()) +
                                        " tokens leaves no room in the backend's context of " +
                                        std::to_string(*context_) + " tokens; it was not sent")};
  }

  pool::pull work_for(const prefix::send& one) {
    auto read = from_.get(pending_[one.item]);
    auto request = read ? prepare(*read, how_) : result<chat::request>(std::move(read).error());
    if (!request) {
      failure_ = std::move(request).error();
      return pool::exhausted{};
    }
    const bool exact = prompts_.exact;
    pool::work work{one.item, *std::move(request), group_of_[one.item], prompt_tokens(one.item)};
    work.request.hints.slot = one.slot;
    sent_[one.item] = {one.slot, exact ? one.predicted_cached : std::nullopt};
    return work;
  }

  const suite& from_;
  const std::vector<std::size_t>& pending_;
  const request_options& how_;
  const prompts& prompts_;
  std::optional<std::uint64_t> context_;  ///< Tokens, of one request.
  std::vector<std::uint32_t> group_of_;
  std::vector<dispatched> sent_;
  prefix::dispatcher dispatch_;  ///< After group_of_, which making it fills.
  std::optional<error> failure_;
};

}  // namespace evalcore::run
