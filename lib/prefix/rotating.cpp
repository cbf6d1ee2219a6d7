#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "prefix/cache_trial.hpp"
#include "prefix/gain.hpp"
#include "prefix/number_set.hpp"
#include "prefix/pending.hpp"
#include "prefix/recent_uses.hpp"
#include "prefix/room_trial.hpp"
#include "prefix/seen.hpp"
#include "prefix/strategy.hpp"
#include "prefix/unsent.hpp"
#include "prefix/waiting_bill.hpp"

namespace evalcore::prefix {
namespace {

/// Groups that take turns: more of them mix long prompts with long answers no better.
constexpr std::size_t most_in_turn = 8;
/// A leader without a first token after this long, and four times as long as any other took, leads nobody.
constexpr duration least_patience = std::chrono::seconds(10);

/// One common cache. A few groups take turns by chance, in proportion to their sizes, as many as the cache
/// has room for; who would find notably more after a running request's first token waits for it.
class rotating final : public strategy {
 public:
  rotating(const plan& order, cache_model cache)
      : plan_(order),
        cache_(cache),
        units_per_token_(order.units_per_token()),
        seen_(order),
        pending_(order, seen_.common()),
        unsent_(order.order.size()),
        begun_(order.groups.size()),
        bill_(cache.in_flight.value_or(0)) {
    if (cache.entries)
      room_ = *cache.entries;
    else if (cache.room)
      room_ = *cache.room * units_per_token_;
  }

  action next(instant now) override {
    if (state_ == planning::ended) return unsent_.next();
    if (pending_.empty()) return finished{};
    bill_.run_until(now);
    auto what = choose(now);
    bill_.decided(running_.size(), std::holds_alternative<hold>(what));
    return what;
  }

  void on_first_token(std::uint32_t item, instant now) override {
    const auto found = running_.find(item);
    if (found == running_.end()) return;
    if (!found->second.again) {
      const auto took = now - found->second.sent_at;
      slowest_ = std::max(slowest_, took);
      if (found->second.own >= most_computed_) {
        most_computed_ = found->second.own;
        most_took_ = took;
      }
    }
    found->second.answers_since = now;
    if (!cache_.entries) computed(item, now);
  }

  void on_retry(std::uint32_t item, instant now) override {
    const auto found = running_.find(item);
    if (found == running_.end()) return;
    found->second.sent_at = now;
    found->second.answers_since.reset();
    found->second.again = true;
  }

  void on_pause(bool paused, instant now) override { bill_.pause(paused, now); }

  void on_end(std::uint32_t item, const ending& how) override {
    const auto found = running_.find(item);
    if (!how.ok) {
      seen_.failed(item);
    } else if (found != running_.end()) {
      computed(item, found->second.sent_at);
    }
    if (found == running_.end()) return;
    const running was = found->second;
    running_.erase(found);
    own_in_flight_ -= was.own;
    if (how.ok) ++(how.cached ? reported_ : unreported_);
    if (how.ok && how.cached && was.counted_on >= cache_trial::telling * units_per_token_)
      learn(was, *how.cached);
  }

  [[nodiscard]] planning state() const override { return state_; }

 private:
  struct turn {
    std::uint32_t group;
    double chance;  ///< The higher, the sooner.
  };
  struct running {
    std::uint64_t counted_on = 0;   ///< Units that were in the cache, if it keeps what it is taken to.
    std::uint32_t own = 0;          ///< Units that were not predicted to be found.
    std::uint64_t working_set = 0;  ///< What the cache had to hold for all in turn.
    std::uint32_t cuts = 0;         ///< Of the room, before it went out.
    instant sent_at{};
    std::optional<instant> answers_since = {};
    bool again = false;  ///< Not its first attempt: when that began is not known.
  };

  action choose(instant now) {
    ask_again_.reset();
    const auto turns = in_turn();
    for (const auto& one : turns) {
      if (!waits(pending_.head(one.group), now)) return start(one.group, now);
    }
    // Leaders of later groups fill the time.
    if (const auto group = ready_after(last_in_turn_, now)) return start(*group, now);
    if (!may_wait()) return start(turns.front().group, now);
    if (silent()) ask_again_at(bill_.too_dear_at(running_.size()));
    return hold{ask_again_};
  }

  /// The first of the next groups with members left that has not to wait. Where nobody has told yet what
  /// waits bring, more of them are looked at.
  std::optional<std::uint32_t> ready_after(std::uint32_t last, instant now) {
    const auto most = reported_ == 0 ? 4 * pending::look_ahead : pending::look_ahead;
    auto group = pending_.group_from(last + 1);
    for (std::size_t looked = 0; group && looked < most; ++looked) {
      if (!waits(pending_.head(*group), now)) return group;
      group = pending_.group_from(*group + 1);
    }
    return std::nullopt;
  }

  /// Whether places may stay free for those who wait, when nobody else is left to take them.
  bool may_wait() {
    if (cache_.entries && idle()) return false;
    if (reported_ > 0) return true;
    // The last ones go out when they would have gone if nobody had waited.
    if (pending_.items() <= bill_.free(running_.size())) return false;
    if (!silent()) return true;
    if (bill_.too_dear()) state_ = planning::bounded;
    return !bill_.too_dear();
  }

  /// Whether every prompt that was sent has been computed.
  [[nodiscard]] bool idle() const {
    return std::ranges::all_of(running_,
                               [](const auto& one) { return one.second.answers_since.has_value(); });
  }

  /// Of several groups, each has the highest as often as it has members left, and its part of those `behind`
  /// it: as though the whole suite were shuffled. In lockstep groups would end together, and the prefixes of
  /// the next be computed together; by their own sizes alone the largest would end first and leave the
  /// prefixes of many small ones for the end. But where a few entries are kept, each group must be asked
  /// again soon: who is furthest behind goes first.
  [[nodiscard]] double chance(std::uint32_t group, double behind) {
    if (cache_.entries) return pending_.left(group);
    const double drawn = (static_cast<double>(random_()) + 1) / 4'294'967'297.0;
    return std::log(drawn) / (pending_.items(group) + behind);
  }

  /// What a group takes of the room.
  [[nodiscard]] std::uint64_t weight(std::uint32_t group) const {
    return cache_.entries ? 1 : plan_.groups[group].prefix_units;
  }

  /// For groups in turn.
  [[nodiscard]] std::uint64_t room() const {
    if (cache_.entries) return *cache_.entries / 2;
    return room_.value_or(std::numeric_limits<std::uint64_t>::max());
  }
  /// The first groups with members left that fit, in an order by chance.
  std::vector<turn> in_turn() {
    std::vector<turn> out;
    working_set_ = cache_.entries ? 0 : own_in_flight_;
    for (auto group = pending_.group_from(0); group && out.size() < most_in_turn;
         group = pending_.group_from(*group + 1)) {
      const auto with = working_set_ + weight(*group);
      if (!out.empty() && with > room()) break;
      working_set_ = with;
      last_in_turn_ = *group;
      out.push_back({*group, 0});
    }
    // Later ones that have begun to fill the time go on, as long as their prefixes are warm.
    for (auto group = begun_.at_or_after(last_in_turn_ + 1); group && out.size() < pending::look_ahead;
         group = begun_.at_or_after(*group + 1)) {
      if (!pending_.has(*group)) continue;
      working_set_ += weight(*group);
      if (working_set_ > room()) break;
      out.push_back({*group, 0});
    }
    std::size_t behind = pending_.block_items();
    for (const auto& one : out) behind -= pending_.items(one.group);
    const auto part = static_cast<double>(behind) / static_cast<double>(out.size());
    for (auto& one : out) one.chance = chance(one.group, part);
    std::ranges::stable_sort(out, std::greater<>{}, &turn::chance);
    return out;
  }

  bool waits(std::uint32_t item, instant now) {
    if (cache_.shares_in_flight) return false;
    auto coming = seen_.coming_near(item);
    for (auto until = led_until(coming); until && *until <= now; until = led_until(coming)) {
      seen_.failed(coming.item);
      coming = seen_.coming_near(item);
    }
    const auto there = counted(held(item, now));
    const auto offered = counted(coming.units);
    if (!worth_waiting(there, offered, plan_.lengths[item], plan_.min_prefix)) return false;
    const auto until = answered_until(coming, offered - there);
    if (until && *until <= now) return false;
    ask_again_at(until ? until : led_until(coming));
    return true;
  }

  /// When a leader without a first token has had its time.
  [[nodiscard]] std::optional<instant> led_until(const seen::nearest& coming) const {
    const auto found = coming.units > 0 ? running_.find(coming.item) : running_.end();
    if (found == running_.end() || found->second.answers_since) return std::nullopt;
    return found->second.sent_at + std::max(least_patience, 4 * slowest_);
  }
  /// A prompt that is kept only when its request has ended is waited for no longer, from its first token on,
  /// than computing it again takes.
  [[nodiscard]] std::optional<instant> answered_until(const seen::nearest& coming, std::uint32_t gain) const {
    const auto found = running_.find(coming.item);
    if (found == running_.end() || !found->second.answers_since) return std::nullopt;
    return *found->second.answers_since + most_took_ / std::max(most_computed_, 1U) * gain;
  }
  void ask_again_at(std::optional<instant> at) {
    if (at && (!ask_again_ || *at < *ask_again_)) ask_again_ = at;
  }
  /// Whether the backend has had time to say what it found, and did not.
  /// A backend that told nothing of its cache in so many answers never does.
  [[nodiscard]] bool silent() const { return reported_ == 0 && unreported_ >= cache_trial::answers; }

  /// What the cache is taken to have of a prompt.
  [[nodiscard]] std::uint32_t held(std::uint32_t item, instant now) const {
    const auto near = seen_.computed_near(item);
    if (near.units == 0) return 0;
    if (!room_ && !cache_.lives) return near.units;
    const auto* last = used_.find(plan_.group_of[near.item]);
    if (last == nullptr) return 0;
    if (room_ && load_ - last->load > *room_) return 0;
    if (cache_.lives && now - last->at > *cache_.lives) return 0;
    return near.units;
  }

  /// Only then is it used: until its leader has computed it again, a prefix that was dropped is not there.
  void computed(std::uint32_t item, instant at) {
    seen_.sent(item);  // Again, if another took the lead meanwhile.
    seen_.computed(item);
    const auto group = plan_.group_of[item];
    const auto* last = used_.find(group);
    used_.note(group, {load_, last == nullptr ? at : std::max(last->at, at)});
  }

  [[nodiscard]] std::uint32_t counted(std::uint64_t units) const {
    return static_cast<std::uint32_t>(given(cache_, units, plan_.units_per_token()));
  }

  action start(std::uint32_t group, instant now) {
    const std::uint32_t item = pending_.pop(group);
    begun_.insert(group);
    if (pending_.items(group) == 0) begun_.erase(group);
    return send_now(item, group, now);
  }

  action send_now(std::uint32_t item, std::uint32_t group, instant now) {
    const auto length = plan_.lengths[item];
    const auto there = held(item, now);
    // What is kept only when a request has ended comes too late for this one.
    const auto coming = cache_.entries ? 0 : seen_.coming_near(item).units;
    const auto common = counted(reusable(std::max(there, coming), length));
    send out{.item = item, .slot = std::nullopt, .predicted_cached = std::nullopt};
    if (common > 0) out.predicted_cached = common;
    const running going{.counted_on = cache_.shares_in_flight ? common : counted(there),
                        .own = length - static_cast<std::uint32_t>(out.predicted_cached.value_or(0)),
                        .working_set = working_set_,
                        .cuts = cuts_,
                        .sent_at = now};
    own_in_flight_ += going.own;
    load_ += cache_.entries ? 1 : going.own;
    if (there > 0) used_.note(group, {load_, now});
    running_.insert_or_assign(item, going);
    seen_.sent(item);
    unsent_.sent(item);
    return out;
  }

  /// What was predicted and is not there was dropped for others: the cache has less room than it was asked
  /// for. `found`: tokens.
  void learn(const running& was, std::uint64_t found) {
    const auto counted_on = was.counted_on / units_per_token_;
    trial_.answered(counted_on, found);
    if (trial_.failed()) state_ = planning::ended;
    if (was.cuts != cuts_ || cache_.entries) return;
    fits_.answered(counted_on, found, plan_.invariant_units / units_per_token_);
    if (!fits_.too_small()) return;
    room_ = was.working_set / 4 * 3;
    ++cuts_;
    fits_ = {};
  }

  const plan& plan_;
  cache_model cache_;
  std::uint64_t units_per_token_;
  seen seen_;
  pending pending_;
  unsent unsent_;
  number_set begun_;  ///< Groups with members in the current block, some of which went out.
  recent_uses used_;
  std::mt19937 random_;  ///< Always the same numbers.
  std::map<std::uint32_t, running> running_;
  std::optional<std::uint64_t> room_;  ///< Units, or entries; absent: no end of it was seen.
  std::uint64_t load_ = 0;             ///< What went into the cache, in the same.
  std::uint64_t working_set_ = 0;
  std::uint64_t own_in_flight_ = 0;
  std::uint32_t last_in_turn_ = 0;
  std::uint32_t cuts_ = 0;
  room_trial fits_;  ///< Since the last cut.
  cache_trial trial_;
  duration slowest_{};
  std::uint32_t most_computed_ =
      0;  ///< Units, by one request before its first token, and how long that took.
  duration most_took_{};
  std::uint32_t reported_ = 0;  ///< Answers that said what was found, and that did not.
  std::uint32_t unreported_ = 0;
  std::optional<instant> ask_again_;
  waiting_bill bill_;
  planning state_ = planning::whole;
};

}  // namespace

std::unique_ptr<strategy> make_rotating(const plan& order, cache_model cache) {
  return std::make_unique<rotating>(order, cache);
}

}  // namespace evalcore::prefix
