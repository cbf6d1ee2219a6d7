#include <evalcore/engine/prefix_cache.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <evalcore/base/hash.hpp>

namespace evalcore::engine {
namespace {

constexpr std::uint64_t most_by_default = std::uint64_t{8} << 30;
constexpr std::size_t recurrent_snapshots = 2;

struct prefix_view {
  std::string_view salt;
  std::span<const token> tokens;
};

struct prefix_key {
  std::string salt;
  std::vector<token> tokens;
  [[nodiscard]] prefix_view view() const noexcept { return {salt, tokens}; }
};

/// Puts a prefix before all that begins with it, and nothing else between.
struct by_tokens {
  using is_transparent = void;
  static bool less(prefix_view left, prefix_view right) {
    if (left.salt != right.salt) return left.salt < right.salt;
    return std::ranges::lexicographical_compare(left.tokens, right.tokens);
  }
  bool operator()(const prefix_key& left, const prefix_key& right) const {
    return less(left.view(), right.view());
  }
  bool operator()(prefix_view left, const prefix_key& right) const { return less(left, right.view()); }
  bool operator()(const prefix_key& left, prefix_view right) const { return less(left.view(), right); }
};

/// What is known of the memory that a snapshot could still take.
std::uint64_t headroom(const memory_report& memory) noexcept {
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  if (memory.working_set && memory.active) {
    room = *memory.working_set - std::min(*memory.active, *memory.working_set);
  }
  return std::min(room, memory.free_ram.value_or(room));
}

}  // namespace

std::string cache_salt(std::string_view scope, std::string_view key, row_layout layout,
                       std::span<const image> images) {
  sha256 hash;
  hash.piece(scope).piece(key).piece(layout == row_layout::batch ? "batch" : "exclusive");
  for (const image& one : images) hash.piece(std::to_string(one.index)).piece(one.bytes);
  return hash.hex();
}

std::uint64_t prefix_cache_budget(std::optional<std::uint64_t> working_set) noexcept {
  return working_set ? std::min(most_by_default, *working_set / 4) : most_by_default;
}

result<void> check(const prefix_cache_options& options) {
  if (options.max_bytes == 0) {
    return fail(errc::invalid_argument, stage::config,
                "a prefix cache needs more than 0 bytes; without a number it takes what suits the machine");
  }
  if (options.max_snapshots == 0) {
    return fail(errc::invalid_argument, stage::config,
                "a prefix cache keeps at least one snapshot; without a number only bytes bound it");
  }
  return {};
}

struct prefix_cache::state {
  struct entry {
    std::shared_ptr<const snapshot> taken;
    std::uint64_t bytes = 0;
    std::list<const prefix_key*>::iterator use;
  };
  using entries = std::map<prefix_key, entry, by_tokens>;

  std::uint32_t grid = 1;
  std::uint64_t reserve_bytes = 0;
  std::optional<std::size_t> max_snapshots;
  entries kept_ones;
  std::list<const prefix_key*> by_use;  ///< What was unused for longest comes first.
  std::unordered_set<std::size_t> reported;
  prefix_cache_stats counts;

  [[nodiscard]] entries::iterator find_longest(std::string_view salt, std::span<const token> prompt) {
    auto rest = prompt.first(prompt.empty() ? 0 : prompt.size() - 1);
    while (!rest.empty()) {
      auto found = kept_ones.upper_bound(prefix_view{salt, rest});
      if (found == kept_ones.begin()) break;
      --found;
      const prefix_key& key = found->first;
      if (key.salt != salt) break;
      const auto parted = std::ranges::mismatch(key.tokens, rest).in1;
      if (parted == key.tokens.end()) return found;
      // Whatever begins `rest` also begins this key, as it stands between the two.
      rest = rest.first(static_cast<std::size_t>(parted - key.tokens.begin()));
    }
    return kept_ones.end();
  }

  void touch(const entry& used) { by_use.splice(by_use.end(), by_use, used.use); }

  void let_go(entries::iterator gone) {
    by_use.erase(gone->second.use);
    counts.resident_bytes -= gone->second.bytes;
    kept_ones.erase(gone);
  }

  bool evict_oldest() {
    for (const auto* key : by_use) {
      const auto oldest = kept_ones.find(*key);
      if (oldest->second.taken.use_count() > 1) continue;
      let_go(oldest);
      ++counts.evictions;
      return true;
    }
    return false;
  }

  /// Evicts until `bytes` more fit and, of what is left, no more than `most` stay.
  bool evict_for(std::uint64_t bytes, std::uint64_t most) {
    if (bytes > counts.memory_max_bytes) return false;
    most = std::min(most, counts.memory_max_bytes - bytes);
    while (counts.resident_bytes > most || (max_snapshots && kept_ones.size() >= *max_snapshots)) {
      if (!evict_oldest()) return false;
    }
    return true;
  }
};

prefix_cache::prefix_cache(const traits& engine, const memory_report& memory,
                           const prefix_cache_options& options)
    : state_(std::make_unique<state>()) {
  state_->grid = std::max(engine.prefix_grid, std::uint32_t{1});
  state_->reserve_bytes = options.reserve_bytes;
  state_->max_snapshots = options.max_snapshots;
  if (!state_->max_snapshots && engine.recurrent) state_->max_snapshots = recurrent_snapshots;
  state_->counts.memory_max_bytes = options.max_bytes.value_or(prefix_cache_budget(memory.working_set));
}

prefix_cache::~prefix_cache() = default;
prefix_cache::prefix_cache(prefix_cache&&) noexcept = default;
prefix_cache& prefix_cache::operator=(prefix_cache&&) noexcept = default;

prefix_cache::hit prefix_cache::find(std::string_view salt, std::span<const token> prompt) {
  const auto found = state_->find_longest(salt, prompt);
  if (found == state_->kept_ones.end()) return {};
  state_->touch(found->second);
  return {found->second.taken, static_cast<std::uint32_t>(found->first.tokens.size())};
}

std::uint32_t prefix_cache::longest(std::string_view salt, std::span<const token> prompt) const {
  const auto found = state_->find_longest(salt, prompt);
  return found == state_->kept_ones.end() ? 0 : static_cast<std::uint32_t>(found->first.tokens.size());
}

void prefix_cache::count_opened(std::uint32_t restored) noexcept {
  ++(restored > 0 ? state_->counts.hits : state_->counts.misses);
  state_->counts.restored_tokens += restored;
}

void prefix_cache::drop(std::string_view salt, std::span<const token> prefix) {
  const auto found = state_->kept_ones.find(prefix_view{salt, prefix});
  if (found == state_->kept_ones.end()) return;
  state_->let_go(found);
  ++state_->counts.unrestorable;
}

std::uint32_t prefix_cache::cut(std::uint32_t shared, std::uint32_t prompt_tokens) const noexcept {
  if (prompt_tokens == 0) return 0;
  const std::uint32_t most = std::min(shared, prompt_tokens - 1);
  const std::uint32_t at = most - most % state_->grid;
  return at < min_tokens ? 0 : at;
}

std::uint32_t prefix_cache::cut_before_end(std::uint32_t prompt_tokens) const noexcept {
  return cut(prompt_tokens - std::min(guard_tokens, prompt_tokens), prompt_tokens);
}

bool prefix_cache::make_room(std::uint64_t bytes, const memory_report& memory) {
  // What is let go of becomes free, byte for byte.
  const std::uint64_t resident = state_->counts.resident_bytes;
  const std::uint64_t wanted = bytes + state_->reserve_bytes;
  const std::uint64_t missing = wanted - std::min(wanted, headroom(memory));
  if (missing <= resident && state_->evict_for(bytes, resident - missing)) return true;
  ++state_->counts.memory_skips;
  return false;
}

kept prefix_cache::store(std::string_view salt, std::span<const token> prefix,
                         std::shared_ptr<const snapshot> taken) {
  if (!taken || prefix.size() < min_tokens || prefix.size() % state_->grid != 0) return reject();
  if (const auto found = state_->kept_ones.find(prefix_view{salt, prefix});
      found != state_->kept_ones.end()) {
    state_->touch(found->second);
    return kept::present;
  }
  const std::uint64_t bytes = taken->bytes();
  if (!state_->evict_for(bytes, std::numeric_limits<std::uint64_t>::max())) {
    ++state_->counts.memory_skips;
    return kept::skipped;
  }
  // Whatever of this has no memory leaves all as it was.
  std::list<const prefix_key*> use(1);
  const auto [place, fresh] =
      state_->kept_ones.try_emplace(prefix_key{std::string(salt), {prefix.begin(), prefix.end()}},
                                    state::entry{std::move(taken), bytes, use.begin()});
  use.front() = &place->first;
  state_->by_use.splice(state_->by_use.end(), use);
  state_->counts.resident_bytes += bytes;
  state_->counts.stored_tokens += prefix.size();
  ++state_->counts.stores;
  return kept::stored;
}

kept prefix_cache::reject() noexcept {
  ++state_->counts.rejects;
  return kept::rejected;
}

bool prefix_cache::evict_oldest() { return state_->evict_oldest(); }

std::size_t prefix_cache::clear() {
  const std::size_t cleared = state_->kept_ones.size();
  state_->by_use.clear();
  state_->kept_ones.clear();
  state_->reported.clear();
  state_->counts.resident_bytes = 0;
  return cleared;
}

prefix_cache_stats prefix_cache::stats() const noexcept {
  prefix_cache_stats now = state_->counts;
  now.snapshots = state_->kept_ones.size();
  return now;
}

bool prefix_cache::first_report(std::string_view key) {
  return state_->reported.insert(std::hash<std::string_view>{}(key)).second;
}

}  // namespace evalcore::engine
