#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <evalcore/engine/prefix_cache.hpp>

#include "unit/counted_snapshot.hpp"

using namespace evalcore::engine;
using evalcore::test::counted_snapshot;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t budget = 64 * mib;
constexpr std::uint64_t reserve = 16 * mib;

/// The cache once more, as a list that is searched from end to end.
class plain_model {
 public:
  explicit plain_model(std::size_t most) : most_(most) {}

  std::size_t find(const std::string& salt, const std::vector<token>& prompt) {
    std::size_t best = kept_.size();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].salt != salt || kept_[i].tokens.size() >= prompt.size()) continue;
      if (!std::equal(kept_[i].tokens.begin(), kept_[i].tokens.end(), prompt.begin())) continue;
      if (best == kept_.size() || kept_[i].tokens.size() > kept_[best].tokens.size()) best = i;
    }
    if (best == kept_.size()) return 0;
    use(best);
    return kept_.back().tokens.size();
  }

  kept offer(const std::string& salt, const std::vector<token>& prefix, std::uint64_t bytes,
             std::uint64_t free) {
    std::uint64_t all = resident();
    if (bytes > budget || free + all < reserve + bytes) return kept::skipped;
    while (all + bytes > budget || free < reserve + bytes || kept_.size() == most_) {
      free += kept_.front().bytes;
      all -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
    kept_.push_back({salt, prefix, bytes});
    return kept::stored;
  }

  [[nodiscard]] bool has(const std::string& salt, const std::vector<token>& prefix) const {
    return std::ranges::any_of(kept_, [&](const one& o) { return o.salt == salt && o.tokens == prefix; });
  }

  [[nodiscard]] std::uint64_t resident() const {
    std::uint64_t sum = 0;
    for (const one& o : kept_) sum += o.bytes;
    return sum;
  }
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  struct one {
    std::string salt;
    std::vector<token> tokens;
    std::uint64_t bytes;
  };
  void use(std::size_t index) {
    std::rotate(kept_.begin() + static_cast<std::ptrdiff_t>(index),
                kept_.begin() + static_cast<std::ptrdiff_t>(index) + 1, kept_.end());
  }

  std::vector<one> kept_;  ///< In the order of use.
  std::size_t most_;
};

struct outcome {
  std::uint64_t most_alive = 0;
  std::uint64_t hits = 0;
  std::uint64_t skips = 0;
  std::uint64_t evictions = 0;
};

/// Conversations of a few turns each, side by side: most continue one that is under way.
outcome converse(std::uint32_t seed, std::uint32_t grid, std::optional<std::size_t> most, bool size_known) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  traits engine;
  engine.prefix_grid = grid;
  std::uint64_t alive = 0;
  prefix_cache cache(engine, {}, {.max_bytes = budget, .reserve_bytes = reserve, .max_snapshots = most});
  plain_model model(most.value_or(1'000'000));

  struct conversation {
    std::string salt;
    std::vector<token> prompt;
    std::uint32_t turns_left;
  };
  std::vector<conversation> under_way;
  outcome seen;
  std::uint32_t begun = 0;
  while (begun < 1'000 || !under_way.empty()) {
    if (begun < 1'000 && (under_way.size() < 3 || below(4) == 0)) {
      conversation fresh{std::to_string(below(3)), {}, 1 + below(6)};
      // One of four beginnings, which share their first tokens in pairs.
      const std::uint32_t system = below(4);
      for (std::uint32_t i = 0; i < 150; ++i) {
        fresh.prompt.push_back(static_cast<token>(i < 90 ? system / 2 : 10 + system));
      }
      under_way.push_back(std::move(fresh));
      ++begun;
    }
    const std::size_t which = below(static_cast<std::uint32_t>(under_way.size()));
    conversation& talk = under_way[which];
    for (std::uint32_t i = 0, n = 10 + below(200); i < n; ++i) {
      talk.prompt.push_back(static_cast<token>(below(3)));
    }

    const std::uint32_t found = cache.find(talk.salt, talk.prompt).tokens;
    REQUIRE(found == model.find(talk.salt, talk.prompt));
    seen.hits += found > 0 ? 1U : 0U;

    const auto size = static_cast<std::uint32_t>(talk.prompt.size());
    const std::uint32_t cut = below(2) == 0 ? cache.cut_before_end(size) : cache.cut(150, size);
    const std::vector<token> prefix(talk.prompt.begin(), talk.prompt.begin() + cut);
    snapshot_tally tally;
    if (cut > found && !model.has(talk.salt, prefix)) {
      // Sizes from a few KiB a token to more than the budget, free memory from nothing to plenty.
      const std::uint64_t bytes = cut * (below(40) == 0 ? 200'000ULL : 20'000ULL + below(5'000));
      memory_report memory;
      memory.free_ram = below(10) == 0 ? below(40) * mib : 500 * mib;
      const kept expected = model.offer(talk.salt, prefix, bytes, *memory.free_ram);
      std::shared_ptr<const snapshot> taken;
      if (!size_known) taken = std::make_shared<counted_snapshot>(bytes, alive);
      kept got = kept::skipped;
      if (cache.make_room(bytes, memory)) {
        if (size_known) taken = std::make_shared<counted_snapshot>(bytes, alive);
        got = cache.store(talk.salt, prefix, std::move(taken));
      }
      taken.reset();
      REQUIRE(got == expected);
      tally.count(got);
      const auto reason = degraded_reason(tally, size, cache.stats());
      REQUIRE(reason.starts_with("#FALLBACK native_apc_store_skipped") == (expected == kept::skipped));
      REQUIRE(reason.empty() == (expected == kept::stored));
      seen.skips += expected == kept::skipped ? 1U : 0U;
    } else {
      REQUIRE(degraded_reason(tally, size, cache.stats()).empty());
    }
    REQUIRE(cache.stats().resident_bytes == model.resident());
    REQUIRE(cache.stats().snapshots == model.size());
    seen.most_alive = std::max(seen.most_alive, alive);
    if (--talk.turns_left == 0) under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
  }
  CHECK(cache.stats().memory_skips == seen.skips);
  seen.evictions = cache.stats().evictions;
  return seen;
}

}  // namespace

TEST_CASE("1,000 random conversations stay within the budget and find what a plain list finds") {
  for (const std::uint32_t grid : {1U, 64U}) {
    for (const bool size_known : {true, false}) {
      const auto seen = converse(7 + grid, grid, std::nullopt, size_known);
      // The snapshots' own bytes, counted where they are made and destroyed.
      CHECK(seen.most_alive <= budget + budget / 100);
      CHECK(seen.most_alive > budget / 2);
      CHECK(seen.hits > 500);
      CHECK(seen.skips > 20);
      CHECK(seen.evictions > 100);
    }
  }
}

TEST_CASE("a bound on their number holds next to the budget") {
  const auto seen = converse(3, 1, 2, true);
  CHECK(seen.hits > 100);
  CHECK(seen.evictions > 500);
}
