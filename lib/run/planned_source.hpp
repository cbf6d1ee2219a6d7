#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/pool/source.hpp>
#include <evalcore/prefix/dispatch.hpp>
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
  planned_source(const suite& from, const std::vector<std::size_t>& pending, const request_options& how,
                 prefix::dispatcher dispatch, bool exact)
      : from_(from),
        pending_(pending),
        how_(how),
        dispatch_(std::move(dispatch)),
        exact_(exact),
        sent_(pending.size()) {}

  pool::pull next() override {
    auto action = dispatch_.next();
    if (failure_) return pool::exhausted{};
    if (const auto* one = std::get_if<prefix::send>(&action)) return work_for(*one);
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
  pool::pull work_for(const prefix::send& one) {
    auto read = from_.get(pending_[one.item]);
    auto request = read ? prepare(*read, how_) : result<chat::request>(std::move(read).error());
    if (!request) {
      failure_ = std::move(request).error();
      return pool::exhausted{};
    }
    pool::work work{one.item, *std::move(request)};
    work.request.hints.slot = one.slot;
    sent_[one.item] = {one.slot, exact_ ? one.predicted_cached : std::nullopt};
    return work;
  }

  const suite& from_;
  const std::vector<std::size_t>& pending_;
  const request_options& how_;
  prefix::dispatcher dispatch_;
  bool exact_;
  std::vector<dispatched> sent_;
  std::optional<error> failure_;
};

}  // namespace evalcore::run
