#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <evalcore/engine/prefix_cache.hpp>

#include "unit/counted_snapshot.hpp"

using evalcore::errc;
using namespace evalcore::engine;
using evalcore::test::counted_snapshot;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// first, first + 1, …
std::vector<token> tokens(std::size_t count, token first = 0) {
  std::vector<token> made(count);
  std::iota(made.begin(), made.end(), first);
  return made;
}

std::vector<token> joined(std::vector<token> front, const std::vector<token>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

struct fixture {
  explicit fixture(const prefix_cache_options& options = {}, const traits& engine = {},
                   const memory_report& memory = {})
      : cache(engine, memory, options) {}

  kept store(const std::vector<token>& prefix, std::uint64_t bytes = 1, std::string_view salt = "s") {
    return cache.store(salt, prefix, std::make_shared<counted_snapshot>(bytes, alive));
  }
  /// A row that begins there.
  std::uint32_t find(const std::vector<token>& prompt, std::string_view salt = "s") {
    const auto found = cache.find(salt, prompt).tokens;
    cache.count_opened(found);
    return found;
  }

  std::uint64_t alive = 0;
  prefix_cache cache;
};

traits with_grid(std::uint32_t grid) {
  traits engine;
  engine.prefix_grid = grid;
  return engine;
}

}  // namespace

TEST_CASE("the budget is a quarter of the working set, at most 8 GiB, and 8 GiB where it is unknown") {
  CHECK(prefix_cache_budget(20 * gib) == 5 * gib);
  CHECK(prefix_cache_budget(64 * gib) == 8 * gib);
  CHECK(prefix_cache_budget(32 * gib) == 8 * gib);
  CHECK(prefix_cache_budget(std::nullopt) == 8 * gib);
  memory_report memory;
  memory.working_set = 20 * gib;
  CHECK(prefix_cache({}, memory).stats().memory_max_bytes == 5 * gib);
  CHECK(prefix_cache({}, memory, {.max_bytes = mib}).stats().memory_max_bytes == mib);
}

TEST_CASE("a budget of nothing and a count of nothing are refused") {
  CHECK(check({}));
  CHECK(check({.max_bytes = 1, .reserve_bytes = 0, .max_snapshots = 1}));
  CHECK(check({.max_bytes = 0}).error().code == errc::invalid_argument);
  CHECK(check({.max_snapshots = 0}).error().code == errc::invalid_argument);
}

TEST_CASE("the longest beginning that was kept is found, and never the whole prompt") {
  fixture at;
  CHECK(at.store(tokens(20)) == kept::stored);
  CHECK(at.store(tokens(40)) == kept::stored);
  CHECK(at.store(joined(tokens(30), tokens(30, 1'000))) == kept::stored);
  CHECK(at.find(tokens(100)) == 40);
  CHECK(at.find(tokens(41)) == 40);
  CHECK(at.find(tokens(40)) == 20);  // Something must be left to compute.
  CHECK(at.find(joined(tokens(30), tokens(31, 1'000))) == 60);
  CHECK(at.find(joined(tokens(30), tokens(31, 1'001))) == 20);
  CHECK(at.find(joined(tokens(39), {7})) == 20);
  CHECK(at.find(tokens(50, 1)) == 0);
  CHECK(at.find({}) == 0);
}

TEST_CASE("what is found is the snapshot of just those tokens") {
  fixture at;
  at.store(tokens(20), 111);
  at.store(tokens(40), 222);
  CHECK(at.cache.find("s", tokens(30)).from->bytes() == 111);
  CHECK(at.cache.find("s", tokens(50)).from->bytes() == 222);
  CHECK(at.cache.find("s", tokens(10)).from == nullptr);
}

TEST_CASE("asking for a length is no use of the snapshot and counts nothing") {
  fixture at({.max_snapshots = 2});
  at.store(tokens(20));
  at.store(tokens(20, 500));
  CHECK(at.cache.longest("s", tokens(30)) == 20);
  CHECK(at.cache.stats().hits == 0);
  at.store(tokens(20, 900));
  CHECK(at.cache.longest("s", tokens(30)) == 0);  // Still the one unused for longest, so the one that went.
  CHECK(at.cache.stats().misses == 0);
}

TEST_CASE("another scope, key, layout or image is another salt, and the same ones are the same") {
  const std::vector<image> none;
  const std::vector<image> cat{{0, "cat"}};
  const auto salt = cache_salt("local", "k", row_layout::batch, none);
  CHECK(salt == cache_salt("local", "k", row_layout::batch, none));
  CHECK(salt != cache_salt("other", "k", row_layout::batch, none));
  CHECK(salt != cache_salt("local", "K", row_layout::batch, none));
  CHECK(salt != cache_salt("local", "k", row_layout::exclusive, none));
  CHECK(cache_salt("ab", "c", row_layout::batch, none) != cache_salt("a", "bc", row_layout::batch, none));

  const auto with_cat = cache_salt("local", "k", row_layout::batch, cat);
  CHECK(with_cat != salt);
  CHECK(with_cat == cache_salt("local", "k", row_layout::batch, cat));
  const std::vector<image> later_cat{{1, "cat"}};
  const std::vector<image> dog{{0, "dog"}};
  const std::vector<image> cut_cat{{0, "ca"}};
  CHECK(with_cat != cache_salt("local", "k", row_layout::batch, later_cat));
  CHECK(with_cat != cache_salt("local", "k", row_layout::batch, dog));
  CHECK(with_cat != cache_salt("local", "k", row_layout::batch, cut_cat));
}

TEST_CASE("two salts see nothing of each other") {
  fixture at;
  at.store(tokens(40), 1, "b");
  CHECK(at.find(tokens(50), "a") == 0);
  CHECK(at.find(tokens(50), "c") == 0);
  at.store(tokens(20), 1, "a");
  CHECK(at.find(tokens(50), "a") == 20);
  CHECK(at.find(tokens(50), "b") == 40);
}

TEST_CASE("a prefix of fewer than 16 tokens is not kept") {
  fixture at;
  CHECK(at.store(tokens(15)) == kept::rejected);
  CHECK(at.store(tokens(16)) == kept::stored);
  CHECK(at.cache.stats().rejects == 1);
  CHECK(at.cache.cut(15, 100) == 0);
  CHECK(at.cache.cut(16, 100) == 16);
}

TEST_CASE("a prefix is cut and kept only on the engine's grid") {
  fixture at({}, with_grid(64));
  CHECK(at.store(tokens(100)) == kept::rejected);
  CHECK(at.store(tokens(128)) == kept::stored);
  CHECK(at.cache.cut(643, 700) == 640);
  CHECK(at.cache.cut(640, 641) == 640);
  CHECK(at.cache.cut(640, 640) == 576);  // Something must be left to compute.
  CHECK(at.cache.cut(63, 700) == 0);
  CHECK(at.cache.cut(700, 0) == 0);
}

TEST_CASE("a conversation's prompt is cut once, 8 tokens before its end") {
  const fixture at;
  CHECK(at.cache.cut_before_end(108) == 100);
  CHECK(at.cache.cut_before_end(24) == 16);
  CHECK(at.cache.cut_before_end(23) == 0);
  CHECK(at.cache.cut_before_end(3) == 0);
  const fixture on_grid({}, with_grid(64));
  CHECK(on_grid.cache.cut_before_end(135) == 64);
  CHECK(on_grid.cache.cut_before_end(136) == 128);
}

TEST_CASE("the budget holds for all together, and what was unused for longest goes first") {
  fixture at({.max_bytes = 100});
  at.store(tokens(20, 0), 40);
  at.store(tokens(20, 100), 40);
  CHECK(at.find(tokens(21, 0)) == 20);
  CHECK(at.store(tokens(20, 200), 40) == kept::stored);
  CHECK(at.alive == 80);
  CHECK(at.cache.stats().resident_bytes == 80);
  CHECK(at.cache.stats().evictions == 1);
  CHECK(at.find(tokens(21, 100)) == 0);
  CHECK(at.find(tokens(21, 0)) == 20);
  CHECK(at.find(tokens(21, 200)) == 20);
}

TEST_CASE("a snapshot larger than the whole budget is skipped, and nothing goes for it") {
  fixture at({.max_bytes = 100});
  at.store(tokens(20), 60);
  CHECK_FALSE(at.cache.make_room(101, {}));
  CHECK(at.cache.stats().memory_skips == 1);
  CHECK(at.store(tokens(40), 101) == kept::skipped);
  CHECK(at.cache.stats().memory_skips == 2);
  CHECK(at.alive == 60);
  CHECK(at.cache.make_room(100, {}));
  CHECK(at.alive == 0);
}

TEST_CASE("free memory less the reserve bounds what is kept, and eviction makes it free") {
  // 2,000 MiB of working set, 1,300 used, so 700 are free and 188 above the reserve of 512.
  memory_report memory;
  memory.working_set = 2'000 * mib;
  memory.active = 1'300 * mib;
  fixture at({.max_bytes = 1'000 * mib});
  CHECK(at.cache.make_room(188 * mib, memory));
  CHECK(at.store(tokens(20), 188 * mib) == kept::stored);
  memory.active = 1'488 * mib;
  CHECK_FALSE(at.cache.make_room(189 * mib, memory));
  CHECK(at.alive == 188 * mib);
  CHECK(at.cache.make_room(188 * mib, memory));
  CHECK(at.alive == 0);
}

TEST_CASE("the machine's free memory counts where it is less than the device's") {
  memory_report memory;
  memory.working_set = 2'000 * mib;
  memory.active = 0;
  memory.free_ram = 522 * mib;
  fixture at;
  CHECK(at.cache.make_room(10 * mib, memory));
  CHECK_FALSE(at.cache.make_room(11 * mib, memory));
  memory.free_ram = 5'000 * mib;
  CHECK(at.cache.make_room(1'488 * mib, memory));
  CHECK_FALSE(at.cache.make_room(1'489 * mib, memory));
  // More in use than the working set: nothing is free.
  memory.active = 3'000 * mib;
  CHECK_FALSE(at.cache.make_room(1, memory));
}

TEST_CASE("unknown memory forbids nothing") {
  fixture at;
  CHECK(at.cache.make_room(8 * gib, {}));
  memory_report half;
  half.working_set = mib;
  CHECK(at.cache.make_room(8 * gib, half));
}

TEST_CASE("a recurrent model keeps two snapshots unless more are asked for") {
  traits recurrent;
  recurrent.recurrent = true;
  fixture two({}, recurrent);
  for (token first = 0; first < 3; ++first) two.store(tokens(20, first * 100));
  CHECK(two.cache.stats().snapshots == 2);
  CHECK(two.find(tokens(21, 0)) == 0);
  CHECK(two.find(tokens(21, 100)) == 20);

  fixture three({.max_snapshots = 3}, recurrent);
  for (token first = 0; first < 4; ++first) three.store(tokens(20, first * 100));
  CHECK(three.cache.stats().snapshots == 3);

  fixture dense;
  for (token first = 0; first < 50; ++first) dense.store(tokens(20, first * 100));
  CHECK(dense.cache.stats().snapshots == 50);
}

TEST_CASE("the first prompt of a tool loop can be restored after its four steps") {
  traits recurrent;
  recurrent.recurrent = true;
  fixture at({.max_snapshots = 8}, recurrent);
  auto prompt = tokens(200);
  const auto first = prompt;
  for (int call = 0; call < 5; ++call) {
    (void)at.find(prompt);
    const auto cut = at.cache.cut_before_end(static_cast<std::uint32_t>(prompt.size()));
    at.store({prompt.begin(), prompt.begin() + cut});
    prompt = joined(prompt, tokens(50, 10'000 * (call + 1)));
  }
  CHECK(at.cache.stats().hits == 4);
  CHECK(at.cache.stats().restored_tokens == 192 + 242 + 292 + 342);
  CHECK(at.find(joined(first, tokens(30, 77'000))) == 192);
}

TEST_CASE("a prefix that is there already is not kept twice, and counts as used") {
  fixture at({.max_bytes = 100});
  at.store(tokens(20, 0), 40);
  at.store(tokens(20, 100), 40);
  CHECK(at.store(tokens(20, 0), 40) == kept::present);
  CHECK(at.alive == 80);
  at.store(tokens(20, 200), 40);
  CHECK(at.find(tokens(21, 0)) == 20);
  CHECK(at.find(tokens(21, 100)) == 0);
}

TEST_CASE("a snapshot that somebody holds makes no room and is not evicted, but the next one is") {
  fixture at({.max_bytes = 100});
  at.store(tokens(20), 40);
  auto row = at.cache.find("s", tokens(30));
  at.store(tokens(20, 500), 40);
  CHECK(at.cache.evict_oldest());
  CHECK(at.alive == 40);
  CHECK_FALSE(at.cache.evict_oldest());
  CHECK_FALSE(at.cache.make_room(80, {}));
  CHECK(at.cache.stats().memory_skips == 1);
  row = {};
  CHECK(at.cache.make_room(80, {}));
  CHECK(at.alive == 0);
  CHECK(at.cache.stats().evictions == 2);
}

TEST_CASE("what is found counts when a row begins, and what is dropped is gone") {
  fixture at;
  at.store(tokens(20), 40);
  at.store(tokens(30), 40);
  for (int asked = 0; asked < 3; ++asked) CHECK(at.cache.find("s", tokens(50)).tokens == 30);
  CHECK(at.cache.stats().hits == 0);
  at.cache.count_opened(30);
  at.cache.count_opened(0);
  at.cache.drop("s", tokens(30));
  at.cache.drop("s", tokens(30));
  at.cache.drop("another", tokens(20));
  CHECK(at.find(tokens(50)) == 20);
  const auto stats = at.cache.stats();
  CHECK(stats.hits == 2);
  CHECK(stats.misses == 1);
  CHECK(stats.restored_tokens == 50);
  CHECK(stats.unrestorable == 1);
  CHECK(stats.evictions == 0);
  CHECK(stats.resident_bytes == 40);
  CHECK(at.alive == 40);
}

TEST_CASE("clear lets go of everything and keeps the counts") {
  fixture at;
  at.store(tokens(20), 40);
  at.store(tokens(40), 40);
  (void)at.find(tokens(50));
  CHECK(at.cache.clear() == 2);
  CHECK(at.alive == 0);
  CHECK(at.find(tokens(50)) == 0);
  const auto stats = at.cache.stats();
  CHECK(stats.snapshots == 0);
  CHECK(stats.resident_bytes == 0);
  CHECK(stats.stores == 2);
  CHECK(stats.stored_tokens == 60);
  CHECK(stats.hits == 1);
  CHECK(stats.misses == 1);
  CHECK(stats.restored_tokens == 40);
  CHECK(stats.evictions == 0);
  CHECK(at.store(tokens(20), 40) == kept::stored);
}

TEST_CASE("a skipped snapshot is told of with its prompt and the budget, a stored one never") {
  const fixture at({.max_bytes = 2'048 * mib});
  const auto stats = at.cache.stats();
  snapshot_tally tally;
  CHECK(degraded_reason(tally, 9'000, stats).empty());
  tally.count(kept::present);
  CHECK(degraded_reason(tally, 9'000, stats).empty());
  tally.count(kept::rejected);
  const auto rejected = degraded_reason(tally, 9'000, stats);
  CHECK(rejected.starts_with("#FALLBACK native_apc_store_rejected: "));
  CHECK(rejected.find("9000-token") != std::string::npos);
  tally.count(kept::skipped);
  const auto skipped = degraded_reason(tally, 9'000, stats);
  CHECK(skipped.starts_with("#FALLBACK native_apc_store_skipped: "));
  CHECK(skipped.find("9000-token") != std::string::npos);
  CHECK(skipped.find("2048 MiB") != std::string::npos);
  tally.count(kept::stored);
  CHECK(degraded_reason(tally, 9'000, stats).empty());
}

TEST_CASE("what degrades a key is reported once, and again after a clear") {
  fixture at;
  CHECK(at.cache.first_report("k"));
  CHECK_FALSE(at.cache.first_report("k"));
  CHECK(at.cache.first_report("other"));
  at.cache.clear();
  CHECK(at.cache.first_report("k"));
}
