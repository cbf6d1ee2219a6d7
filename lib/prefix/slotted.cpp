#include <algorithm>
#include <utility>

#include "prefix/cache_trial.hpp"
#include "prefix/common_units.hpp"
#include "prefix/gain.hpp"
#include "prefix/pending.hpp"
#include "prefix/strategy.hpp"
#include "prefix/unsent.hpp"

namespace evalcore::prefix {
namespace {

/// How much further a group must be than another, as parts of both, to give it a slot.
constexpr double lead = 0.1;

/// A leader without a first token leads nobody after this long, a tenth of a second for each token that it
/// has to compute, and four times as long as any other took: slots may be on a slow machine.
constexpr duration least_patience = std::chrono::seconds(10);
constexpr duration patience_per_token = std::chrono::milliseconds(100);
/// Nothing that shares is computed twice to save less.
constexpr duration least_wait = std::chrono::milliseconds(100);

/// A cache for each slot. The rules are dispatcher's; the order in which they are tried matters: a slot
/// that has nothing to go on with takes what costs nothing, else is given a copy before the slot that could
/// be copied is busy again, and only then do the others go on.
class slotted final : public strategy {
 public:
  slotted(const plan& order, cache_model cache)
      : plan_(order),
        common_(order),
        pending_(order, common_),
        unsent_(order.order.size()),
        slots_(std::max(*cache.slots, std::uint32_t{1})),
        can_share_(cache.can_share) {}

  action next(instant now) override {
    if (trial_.failed()) return unsent_.next();
    if (pending_.empty()) return finished{};
    if (sharing_) return hold{};
    now_ = now;
    ask_again_.reset();

    std::vector<std::uint32_t> settled;  // Free, and the next of its group loses nothing there.
    std::vector<std::uint32_t> seekers;  // Free, without that.
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].busy) continue;
      if (!slots_[s].idle_since) slots_[s].idle_since = now;
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
    return hold{ask_again_};
  }

  void on_first_token(std::uint32_t item, instant now) override {
    for (slot& one : slots_) {
      if (!one.busy || one.held != item) continue;
      if (!one.ready_since) one.ready_since = now;
      if (one.again) continue;
      slowest_ = std::max(slowest_, now - one.sent_at);
      if (one.own < most_computed_) continue;
      most_computed_ = one.own;
      most_took_ = now - one.sent_at;
    }
  }

  void on_retry(std::uint32_t item, instant now) override {
    for (slot& one : slots_) {
      if (!one.busy || one.held != item) continue;
      one.sent_at = now;
      one.ready_since.reset();
      one.again = true;
    }
  }

  void on_end(std::uint32_t item, const ending& how) override {
    for (slot& one : slots_) {
      if (!one.busy || one.held != item) continue;
      one.busy = false;
      if (how.ok && how.cached && !one.again)
        trial_.answered(one.predicted / plan_.units_per_token(), *how.cached);
      // An answer that is not streamed has no first token.
      if (!one.ready_since) one.ready_since = now_;
      if (!how.ok) one = {.held = std::nullopt, .unknown = true};
    }
  }

  [[nodiscard]] planning state() const override {
    return trial_.failed() ? planning::ended : planning::whole;
  }

  void on_shared(bool ok) override {
    if (!sharing_) return;
    for (const std::uint32_t to : sharing_->to) {
      // A copy that failed may have got half-way.
      auto& into = slots_[to];
      const auto idle_since = into.idle_since;
      into = ok ? slots_[sharing_->from] : slot{.held = std::nullopt, .unknown = true};
      into.idle_since = idle_since;
    }
    if (!ok) can_share_ = false;
    sharing_.reset();
  }

 private:
  struct slot {
    std::optional<std::uint32_t> held;  ///< Whose prompt is in it, or will be when `busy`.
    std::uint32_t group = 0;            ///< Of `held`.
    bool busy = false;
    bool unknown = false;                     ///< Something failed here; what is left of it cannot be told.
    std::uint32_t own = 0;                    ///< Units of it that were not there before.
    instant sent_at{};                        ///< When `busy`.
    std::optional<instant> ready_since = {};  ///< That is when it had the prefix of its group.
    std::optional<instant> idle_since = {};   ///< When not `busy`.
    std::uint64_t predicted = 0;              ///< Units that were to be found for `held`.
    bool again = false;                       ///< Not its first attempt: when that began is not known.
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

  /// Whether the request should not go to this slot yet.
  bool loses(const offer& what, std::uint32_t s) {
    // What was waited for long enough in one slot is waited for in none.
    std::uint32_t given_up = what.common[s];
    for (std::uint32_t t = 0; t < slots_.size(); ++t) {
      const auto at = what.common[t] > given_up ? waited_for_until(what, s, t) : std::nullopt;
      if (at && *at <= now_ && slots_[t].ready_since) given_up = what.common[t];
    }
    std::uint32_t best = what.common[s];
    std::optional<instant> until;
    for (std::uint32_t t = 0; t < slots_.size(); ++t) {
      if (what.common[t] <= best) continue;
      const auto at = waited_for_until(what, s, t);
      if (at && (*at <= now_ || what.common[t] <= given_up)) continue;
      best = what.common[t];
      until = at;
    }
    if (!worth_waiting(what.common[s], best, what.length, plan_.min_prefix)) return false;
    if (until && (!ask_again_ || *until < *ask_again_)) ask_again_ = until;
    return true;
  }

  /// Until when a free slot waits for what another has of a prompt; absent: it is to be had at once. What is
  /// there but cannot be had, because its slot still answers or no slot can be copied, is waited for as long
  /// as computing it again would take: so an idle slot never loses more than that, and neither does the
  /// machine.
  std::optional<instant> waited_for_until(const offer& what, std::uint32_t s, std::uint32_t of) const {
    const auto& other = slots_[of];
    if (!other.busy && can_share_) return std::nullopt;
    if (!other.ready_since) {
      const auto tokens = other.own / plan_.units_per_token();
      return other.sent_at + std::max(least_patience + tokens * patience_per_token, 4 * slowest_);
    }
    const auto begun = std::max(*other.ready_since, slots_[s].idle_since.value_or(now_));
    const auto lacking = what.common[of] - what.common[s];
    const auto again = std::max(least_wait, most_took_ / std::max(most_computed_, 1U) * lacking);
    return begun + again * std::max(slots_of(what.group), 1U);
  }

  action start(const offer& what, std::uint32_t s) {
    const std::uint32_t item = pending_.pop(what.group);
    send out{.item = item, .slot = s, .predicted_cached = std::nullopt};
    if (!slots_[s].unknown) out.predicted_cached = reusable(what.common[s], plan_.lengths[item]);
    unsent_.sent(item);
    const bool goes_on = what.common[s] >= std::max(plan_.groups[what.group].prefix_units, plan_.min_prefix);
    slots_[s] = {.held = item,
                 .group = what.group,
                 .busy = true,
                 .own = what.length - what.common[s],
                 .sent_at = now_,
                 .ready_since = goes_on ? slots_[s].ready_since : std::nullopt,
                 .predicted = out.predicted_cached.value_or(0)};
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
    const auto price = std::uint64_t{what.best - held} * (static_cast<std::uint64_t>(rivals) + 1);
    return whole_suite ? price <= pending_.suffix_units() : pending_.has_suffix_units(what.group, price);
  }

  const plan& plan_;
  common_units common_;
  pending pending_;
  unsent unsent_;
  cache_trial trial_;
  std::vector<slot> slots_;
  bool can_share_;
  std::optional<share> sharing_;
  instant now_{};
  std::optional<instant> ask_again_;
  duration slowest_{};
  std::uint32_t most_computed_ =
      0;  ///< Units, by one request before its first token, and how long that took.
  duration most_took_{};
};

}  // namespace

std::unique_ptr<strategy> make_slotted(const plan& order, cache_model cache) {
  return std::make_unique<slotted>(order, cache);
}

}  // namespace evalcore::prefix
