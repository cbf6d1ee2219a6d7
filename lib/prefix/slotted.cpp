#include <algorithm>
#include <utility>

#include "prefix/common_units.hpp"
#include "prefix/gain.hpp"
#include "prefix/pending.hpp"
#include "prefix/strategy.hpp"

namespace evalcore::prefix {
namespace {

/// How much further a group must be than another, as parts of both, to give it a slot.
constexpr double lead = 0.1;

/// A cache for each slot. The rules are dispatcher's; the order in which they are tried matters: a slot
/// that has nothing to go on with takes what costs nothing, else is given a copy before the slot that could
/// be copied is busy again, and only then do the others go on.
class slotted final : public strategy {
 public:
  slotted(const plan& order, cache_model cache)
      : plan_(order),
        common_(order),
        pending_(order),
        slots_(std::max(*cache.slots, std::uint32_t{1})),
        can_share_(cache.can_share) {}

  action next(instant /*now*/) override {
    if (pending_.empty()) return finished{};
    if (sharing_) return hold{};

    std::vector<std::uint32_t> settled;  // Free, and the next of its group loses nothing there.
    std::vector<std::uint32_t> seekers;  // Free, without that.
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].busy) continue;
      const bool goes_on =
          slots_[s].held && pending_.has(slots_[s].group) && !loses(look(slots_[s].group), s);
      (goes_on ? settled : seekers).push_back(s);
    }

    std::vector<offer> offers;
    if (!seekers.empty()) {
      for (const std::uint32_t group : pending_.groups()) offers.push_back(look(group));
    }
    if (auto found = without_loss(offers, seekers)) return *std::move(found);
    if (can_share_) {
      if (auto found = copy(offers, seekers, settled)) return *std::move(found);
    }
    if (auto found = catch_up(settled)) return *std::move(found);
    if (!settled.empty()) return start(look(slots_[settled.front()].group), settled.front());
    if (!can_share_) {
      if (auto found = computing_again(offers, seekers)) return *std::move(found);
    }
    return hold{};
  }

  void on_first_token(std::uint32_t /*item*/, instant /*now*/) override {}

  void on_end(std::uint32_t item, const ending& how) override {
    for (slot& one : slots_) {
      if (!one.busy || one.held != item) continue;
      one.busy = false;
      if (!how.ok) one = {.held = std::nullopt, .unknown = true};
    }
  }

  void on_shared(bool ok) override {
    if (!sharing_) return;
    for (const std::uint32_t to : sharing_->to) {
      // A copy that failed may have got half-way.
      slots_[to] = ok ? slots_[sharing_->from] : slot{.held = std::nullopt, .unknown = true};
    }
    if (!ok) can_share_ = false;
    sharing_.reset();
  }

 private:
  struct slot {
    std::optional<std::uint32_t> held;  ///< Whose prompt is in it, or will be when `busy`.
    std::uint32_t group = 0;            ///< Of `held`.
    bool busy = false;
    bool unknown = false;  ///< Something failed here; what is left of it cannot be told.
  };
  /// The next request of a group, against what the slots hold.
  struct offer {
    std::uint32_t group = 0;
    std::uint32_t length = 0;
    std::vector<std::uint32_t> common;  ///< By slot.
    std::uint32_t best = 0;             ///< The largest of them.
  };

  offer look(std::uint32_t group) const {
    const std::uint32_t item = pending_.head(group);
    offer out{.group = group, .length = plan_.lengths[item], .common = {}};
    for (const slot& one : slots_) out.common.push_back(one.held ? common_.of(item, *one.held) : 0);
    out.best = *std::ranges::max_element(out.common);
    return out;
  }

  bool loses(const offer& what, std::uint32_t s) const {
    return worth_waiting(what.common[s], what.best, what.length, plan_.min_prefix);
  }

  action start(const offer& what, std::uint32_t s) {
    const std::uint32_t item = pending_.pop(what.group);
    send out{.item = item, .slot = s, .predicted_cached = std::nullopt};
    if (!slots_[s].unknown) out.predicted_cached = reusable(what.common[s], plan_.lengths[item]);
    slots_[s] = {.held = item, .group = what.group, .busy = true};
    return out;
  }

  std::optional<action> without_loss(std::span<const offer> offers, std::span<const std::uint32_t> seekers) {
    for (const offer& what : offers) {
      const auto most =
          std::ranges::max_element(seekers, {}, [&](std::uint32_t s) { return what.common[s]; });
      if (!loses(what, *most)) return start(what, *most);
    }
    return std::nullopt;
  }

  std::optional<action> copy(std::span<const offer> offers, std::span<const std::uint32_t> seekers,
                             std::span<const std::uint32_t> settled) {
    for (const offer& what : offers) {
      const auto from =
          std::ranges::find_if(settled, [&](std::uint32_t s) { return what.common[s] == what.best; });
      if (from == settled.end()) continue;
      // The source takes one request itself; more copies than what then remains serve nobody.
      const bool own = slots_[*from].group == what.group;
      const std::size_t takers = (own ? pending_.items(what.group) : pending_.items()) - 1;
      share out{.from = *from, .to = {}};
      for (const std::uint32_t s : seekers) {
        if (out.to.size() < takers && loses(what, s)) out.to.push_back(s);
      }
      if (out.to.empty()) continue;
      sharing_ = out;
      return out;
    }
    return std::nullopt;
  }

  std::optional<action> computing_again(std::span<const offer> offers,
                                        std::span<const std::uint32_t> seekers) {
    const offer* found = nullptr;
    std::uint32_t to = 0;
    double most_work = 0;
    for (const offer& what : offers) {
      const auto most =
          std::ranges::max_element(seekers, {}, [&](std::uint32_t s) { return what.common[s]; });
      const double work = pending_.items(what.group) / (1.0 + slots_of(what.group));
      if (work <= most_work || !worth_computing(what, what.common[*most])) continue;
      most_work = work;
      found = &what;
      to = *most;
    }
    if (found == nullptr) return std::nullopt;
    return start(*found, to);
  }

  /// A group that has several slots and is well ahead gives one to the group that is furthest behind.
  std::optional<action> catch_up(std::span<const std::uint32_t> settled) {
    for (const std::uint32_t s : settled) {
      const std::uint32_t own = slots_[s].group;
      if (slots_of(own) < 2) continue;
      std::optional<std::uint32_t> behind;
      double most_left = pending_.left(own) + lead;
      for (const std::uint32_t group : pending_.groups()) {
        if (pending_.left(group) <= most_left) continue;
        most_left = pending_.left(group);
        behind = group;
      }
      if (!behind) continue;
      const offer what = look(*behind);
      if (!loses(what, s) || worth_computing(what, what.common[s])) return start(what, s);
    }
    return std::nullopt;
  }

  std::uint32_t slots_of(std::uint32_t group) const {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(slots_, [&](const slot& one) { return one.held && one.group == group; }));
  }

  bool worth_computing(const offer& what, std::uint32_t held) const {
    // A slot that lacks even what the whole suite shares buys its part of the whole suite.
    const bool whole_suite = held < plan_.invariant_units;
    const auto rivals = std::ranges::count_if(
        slots_, [&](const slot& one) { return one.held && (whole_suite || one.group == what.group); });
    const std::uint64_t work = whole_suite ? pending_.suffix_units() : pending_.suffix_units(what.group);
    return std::uint64_t{what.best - held} * (static_cast<std::uint64_t>(rivals) + 1) <= work;
  }

  const plan& plan_;
  common_units common_;
  pending pending_;
  std::vector<slot> slots_;
  bool can_share_;
  std::optional<share> sharing_;
};

}  // namespace

std::unique_ptr<strategy> make_slotted(const plan& order, cache_model cache) {
  return std::make_unique<slotted>(order, cache);
}

}  // namespace evalcore::prefix
