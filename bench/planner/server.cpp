#include "server.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace evalcore::bench {
namespace {

/// Pages with the one that was used last in front.
class pages_kept final : public kept_prompts {
 public:
  pages_kept(const server_kind& kind, const token_suite& suite, const paged_suite& pages)
      : kind_(kind),
        suite_(suite),
        pages_(pages.pages),
        room_(kind.capacity == 0 ? std::numeric_limits<std::uint64_t>::max() : kind.capacity / kind.page),
        used_(pages.distinct, 0),
        kept_(pages.distinct, false),
        newer_(pages.distinct + 1, pages.distinct),
        older_(pages.distinct + 1, pages.distinct),
        ends_(pages.distinct) {}

  found arrive(std::uint32_t item, std::optional<std::uint32_t> /*slot*/, double now) override {
    std::uint32_t count = 0;
    for (const auto page : pages_[item]) {
      if (!kept_[page] || (kind_.lives_s > 0 && now - used_[page] > kind_.lives_s)) break;
      ++count;
    }
    // The first pages last, so that a prefix outlives what follows it.
    for (std::uint32_t i = count; i > 0; --i) use(pages_[item][i - 1], now);
    if (kind_.shares_in_flight) keep(item, now);
    return {count * kind_.page, 0};
  }
  void first_token(std::uint32_t item, double now) override { keep(item, now); }
  void end(std::uint32_t /*item*/, std::uint32_t /*slot*/) override {}
  void copy(std::uint32_t /*from*/, std::uint32_t /*to*/) override {}

 private:
  void keep(std::uint32_t item, double now) {
    if (suite_.prompts[item].size() < kind_.least) return;
    for (auto page = pages_[item].rbegin(); page != pages_[item].rend(); ++page) use(*page, now);
    while (count_ > room_) drop(newer_[ends_]);
  }
  void use(std::uint32_t page, double now) {
    if (kept_[page]) unlink(page);
    count_ += kept_[page] ? 0U : 1U;
    kept_[page] = true;
    used_[page] = now;
    newer_[page] = ends_;
    older_[page] = older_[ends_];
    newer_[older_[ends_]] = page;
    older_[ends_] = page;
  }
  void unlink(std::uint32_t page) {
    older_[newer_[page]] = older_[page];
    newer_[older_[page]] = newer_[page];
  }
  void drop(std::uint32_t page) {
    unlink(page);
    kept_[page] = false;
    --count_;
  }

  const server_kind& kind_;
  const token_suite& suite_;
  const std::vector<std::vector<std::uint32_t>>& pages_;
  std::uint64_t room_;
  std::uint64_t count_ = 0;
  std::vector<double> used_;
  std::vector<bool> kept_;
  // A ring: older_[ends_] is the newest page, newer_[ends_] the oldest.
  std::vector<std::uint32_t> newer_;
  std::vector<std::uint32_t> older_;
  std::uint32_t ends_;
};

class entries_kept final : public kept_prompts {
 public:
  entries_kept(const server_kind& kind, const token_suite& suite) : kind_(kind), suite_(suite) {}

  found arrive(std::uint32_t item, std::optional<std::uint32_t> /*slot*/, double /*now*/) override {
    std::uint32_t most = 0;
    auto from = kept_.end();
    for (auto one = kept_.begin(); one != kept_.end(); ++one) {
      const auto common = prefix::common_prefix(suite_.prompts[item], suite_.prompts[*one]);
      if (common <= most) continue;
      most = common;
      from = one;
    }
    if (from != kept_.end()) std::rotate(kept_.begin(), from, std::next(from));
    return {std::min(most, static_cast<std::uint32_t>(suite_.prompts[item].size()) - 1), 0};
  }
  void first_token(std::uint32_t /*item*/, double /*now*/) override {}
  void end(std::uint32_t item, std::uint32_t /*slot*/) override {
    kept_.push_front(item);
    if (kept_.size() > kind_.entries) kept_.pop_back();
  }
  void copy(std::uint32_t /*from*/, std::uint32_t /*to*/) override {}

 private:
  const server_kind& kind_;
  const token_suite& suite_;
  std::deque<std::uint32_t> kept_;
};

class slots_kept final : public kept_prompts {
 public:
  slots_kept(const server_kind& kind, const token_suite& suite) : suite_(suite), slots_(kind.slots) {}

  found arrive(std::uint32_t item, std::optional<std::uint32_t> slot, double /*now*/) override {
    const auto chosen = slot ? *slot : choose(item);
    const auto common = common_with(chosen, item);
    slots_[chosen] = {item, true, ++clock_};
    return {std::min(common, static_cast<std::uint32_t>(suite_.prompts[item].size()) - 1), chosen};
  }
  void first_token(std::uint32_t /*item*/, double /*now*/) override {}
  void end(std::uint32_t /*item*/, std::uint32_t slot) override {
    slots_[slot].busy = false;
    slots_[slot].used = ++clock_;
  }
  void copy(std::uint32_t from, std::uint32_t to) override { slots_[to] = slots_[from]; }

 private:
  struct state {
    std::optional<std::uint32_t> held;
    bool busy = false;
    std::uint64_t used = 0;
  };

  [[nodiscard]] std::uint32_t common_with(std::uint32_t s, std::uint32_t item) const {
    return slots_[s].held ? prefix::common_prefix(suite_.prompts[item], suite_.prompts[*slots_[s].held]) : 0;
  }
  /// The free slot that holds the most of it, if that is a tenth of the prompt, else the one that was free
  /// for longest.
  [[nodiscard]] std::uint32_t choose(std::uint32_t item) const {
    std::optional<std::uint32_t> longest_free;
    std::optional<std::uint32_t> most_alike;
    std::uint32_t most = static_cast<std::uint32_t>(suite_.prompts[item].size()) / 10;
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].busy) continue;
      if (!longest_free || slots_[s].used < slots_[*longest_free].used) longest_free = s;
      if (const auto common = common_with(s, item); common > most) {
        most = common;
        most_alike = s;
      }
    }
    return most_alike ? *most_alike : longest_free.value();
  }

  const token_suite& suite_;
  std::vector<state> slots_;
  std::uint64_t clock_ = 0;
};

}  // namespace

paged_suite::paged_suite(const token_suite& suite, std::uint32_t page) {
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const auto& prompt : suite.prompts) {
    auto& own = pages.emplace_back();
    // The last token is always computed.
    const std::size_t count = (prompt.size() - 1) / page;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t at = i * page; at < (i + 1) * page; ++at) {
        hash = (hash ^ static_cast<std::uint32_t>(prompt[at] + 1)) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29U;
      }
      own.push_back(numbers.try_emplace(hash, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
  }
  distinct = static_cast<std::uint32_t>(numbers.size());
}

std::unique_ptr<kept_prompts> make_kept(const server_kind& kind, const token_suite& suite,
                                        const paged_suite& pages) {
  if (kind.slots > 0) return std::make_unique<slots_kept>(kind, suite);
  if (kind.entries > 0) return std::make_unique<entries_kept>(kind, suite);
  return std::make_unique<pages_kept>(kind, suite, pages);
}

server_kind small_radix_cache() { return {.name = "radix, 8,000 tokens", .told = {}, .capacity = 8'000}; }

std::vector<server_kind> server_kinds() {
  return {
      {.name = "16 slots", .told = {.slots = 16}, .slots = 16},
      {.name = "4 slots", .told = {.slots = 4}, .in_flight = 4, .slots = 4},
      {.name = "4 slots that copy", .told = {.slots = 4, .can_share = true}, .in_flight = 4, .slots = 4},
      {.name = "shared in flight",
       .told = {.shares_in_flight = true, .page = 16},
       .page = 16,
       .capacity = 400'000,
       .shares_in_flight = true},
      {.name = "blocks of 64", .told = {.page = 64}, .page = 64, .capacity = 20'000},
      {.name = "ten entries", .told = {.entries = 10}, .entries = 10, .prefill_rate = 1'500},
      {.name = "five minutes",
       .told = {.page = 128, .least = 1'024, .lives = std::chrono::minutes(5)},
       .page = 128,
       .lives_s = 300,
       .least = 1'024,
       .one_prefill = false,
       .prefill_rate = 8'000,
       .decode_rate = 80,
       .overhead_s = 0.3},
  };
}

std::vector<server_kind> unseen_server_kinds() {
  constexpr auto never = std::numeric_limits<std::uint32_t>::max();
  return {
      {.name = "8 slots", .told = {.slots = 8}, .in_flight = 8, .slots = 8},
      {.name = "8 slots that copy", .told = {.slots = 8, .can_share = true}, .in_flight = 8, .slots = 8},
      {.name = "radix, 64 in flight", .told = {}, .in_flight = 64, .capacity = 60'000},
      {.name = "radix, 4 in flight", .told = {}, .in_flight = 4, .capacity = 6'000},
      {.name = "blocks of 256", .told = {.page = 256}, .page = 256, .capacity = 100'000},
      {.name = "entries, 32 in flight",
       .told = {.entries = 10},
       .in_flight = 32,
       .entries = 10,
       .prefill_rate = 1'500},
      {.name = "radix, tells nothing", .told = {}, .capacity = 50'000, .tells = false},
      {.name = "keeps nothing", .told = {}, .least = never},
      {.name = "neither keeps nor tells", .told = {}, .tells = false, .least = never},
      {.name = "unknown, side by side",
       .told = {},
       .in_flight = 64,
       .page = 128,
       .tells = false,
       .least = 1'024,
       .one_prefill = false,
       .prefill_rate = 8'000,
       .decode_rate = 80,
       .overhead_s = 0.3},
  };
}

}  // namespace evalcore::bench
