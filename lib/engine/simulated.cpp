#include <evalcore/engine/simulated.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "engine/row_check.hpp"

namespace evalcore::engine {
namespace {

constexpr std::string_view end_text = "<|end|>";
constexpr std::string_view begin_text = "<|begin|>";

/// The state of a row after one more token (the mix is splitmix64's).
std::uint64_t after(std::uint64_t state, token id) noexcept {
  auto mixed = state + 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(id);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

/// In (-1, 0].
float logprob_of(std::uint64_t state) noexcept { return -static_cast<float>(state >> 40U) / 16'777'216.0F; }

std::string_view text_of(token id) {
  static const std::array<char, 256> bytes = [] {
    std::array<char, 256> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i);
    return all;
  }();
  return id < 256 ? std::string_view(&bytes.at(static_cast<std::size_t>(id)), 1) : std::string_view();
}

class kept_row final : public snapshot {
 public:
  kept_row(std::uint64_t which, std::vector<token> first, std::uint64_t hash, std::uint64_t size,
           std::shared_ptr<std::atomic<std::int64_t>> live,
           std::shared_ptr<std::atomic<std::uint64_t>> live_tokens)
      : number(which),
        tokens(std::move(first)),
        state(hash),
        bytes_(size),
        live_(std::move(live)),
        live_tokens_(std::move(live_tokens)) {
    ++*live_;
    *live_tokens_ += tokens.size();
  }
  kept_row(const kept_row&) = delete;
  kept_row& operator=(const kept_row&) = delete;
  ~kept_row() override {
    --*live_;
    *live_tokens_ -= tokens.size();
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

  std::uint64_t number;  ///< From 1, of those of its engine.
  std::vector<token> tokens;
  std::uint64_t state;

 private:
  std::uint64_t bytes_;
  std::shared_ptr<std::atomic<std::int64_t>> live_;
  std::shared_ptr<std::atomic<std::uint64_t>> live_tokens_;
};

error wrong(std::string message) { return fail(errc::invalid_argument, stage::send, std::move(message)); }

result<void> check(const row_request& asked, const traits& about) {
  const auto length = asked.prompt.size();
  if (length == 0) return wrong("the prompt has no token");
  if (asked.max_tokens < 1) return wrong("max_tokens must be at least 1");
  if (const auto held = most_held(asked); held > about.context_tokens) {
    return fail(errc::context_overflow, stage::send,
                "prompt and answer need " + std::to_string(held) + " tokens, the context has " +
                    std::to_string(about.context_tokens));
  }
  const auto off_grid = [&](std::uint32_t at) { return at % about.prefix_grid != 0; };
  if ((asked.from == nullptr) != (asked.restored == 0))
    return wrong("a snapshot and its length belong together");
  if (asked.restored >= length || off_grid(asked.restored))
    return wrong("the restored prefix is off the grid");
  auto above = asked.restored;
  for (const auto cut : asked.cuts) {
    if (cut <= above || cut >= length || off_grid(cut))
      return wrong("cuts must rise within the prompt, on the grid");
    above = cut;
  }
  if (asked.from) {
    const auto* kept = dynamic_cast<const kept_row*>(asked.from.get());
    if (kept == nullptr || kept->tokens.size() < asked.restored ||
        !std::equal(kept->tokens.begin(), kept->tokens.begin() + asked.restored, asked.prompt.begin())) {
      return wrong("the snapshot holds another prefix");
    }
    if (kept->tokens.size() != asked.restored) return wrong("the snapshot holds more than is restored");
  }
  if (!asked.continuations.empty() && !about.scoring) {
    return fail(errc::unsupported, stage::send, "continuations cannot be scored");
  }
  return {};
}

}  // namespace

simulated_engine::simulated_engine(simulated_options how, virtual_clock& clock)
    : how_(std::move(how)),
      clock_(clock),
      live_snapshots_(std::make_shared<std::atomic<std::int64_t>>(0)),
      snapshot_tokens_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}
simulated_engine::~simulated_engine() = default;

result<rendered> simulated_engine::render(const chat::request& request) {
  if (!request.tools.empty()) {
    return fail(errc::unsupported, stage::send, "the simulated engine's template has no place for tools");
  }
  rendered made{.text = std::string(begin_text), .template_name = "simulated"};
  for (const auto& turn : request.messages) {
    made.text.append(chat::name(turn.who)).append(": ").append(turn.text).append(end_text);
  }
  made.text += "assistant: ";
  return made;
}

result<std::vector<token>> simulated_engine::tokenize(std::string_view text, bool special) {
  std::vector<token> tokens;
  if (!special) tokens.push_back(begin_token);
  while (!text.empty()) {
    if (special && text.starts_with(end_text)) {
      tokens.push_back(end_token);
      text.remove_prefix(end_text.size());
    } else if (special && text.starts_with(begin_text)) {
      tokens.push_back(begin_token);
      text.remove_prefix(begin_text.size());
    } else {
      tokens.push_back(static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
    }
  }
  return tokens;
}

bool simulated_engine::has_room_for(const row_request& request) const {
  if (!how_.shared_tokens) return true;
  const auto needs = [](const row_request& row) { return most_held(row) - row.restored; };
  std::uint64_t taken = *snapshot_tokens_ + needs(request);
  for (const auto& [id, one] : rows_) taken += needs(one.asked);
  return taken <= *how_.shared_tokens;
}

result<row_id> simulated_engine::open(row_request request) {
  if (open_fault_) return *std::exchange(open_fault_, std::nullopt);
  if (auto fine = check(request, how_.about); !fine) return std::move(fine).error();
  if (rows_.size() >= how_.about.max_rows) {
    return fail(errc::busy, stage::send, "all " + std::to_string(how_.about.max_rows) + " rows are open");
  }
  if (!has_room_for(request)) {
    return fail(errc::busy, stage::send, "rows and snapshots fill the memory that they share");
  }
  sequence made;
  if (request.from) {
    const auto& kept = dynamic_cast<const kept_row&>(*request.from);
    if (kept.number <= damaged_through_) {
      return fail(errc::backend_fault, stage::send, "the snapshot is damaged");
    }
    made.tokens = kept.tokens;
    made.state = kept.state;
    request.from.reset();
  }
  made.asked = std::move(request);
  rows_.emplace(last_row_ + 1, std::move(made));
  ++counted_.opened;
  return ++last_row_;
}

result<void> simulated_engine::step(std::uint32_t max_width, step_output& out) {
  out.clear();
  if (max_width < 1) throw std::logic_error("a step of width 0");
  ++counted_.steps;
  if (step_fault_) {
    for (auto& [id, one] : rows_) one.lost = true;
    return *std::exchange(step_fault_, std::nullopt);
  }
  std::uint32_t prefilling = 0;
  std::uint32_t decoding = 0;
  for (auto& [id, one] : rows_) {
    one.at_cut = false;
    if (one.lost) throw std::logic_error("a lost row was not removed");
    if (one.prefilling()) {
      ++prefilling;
    } else if (one.asked.continuations.empty()) {
      ++decoding;
    }
  }
  if (decoding > 0) {
    const auto batches = (decoding + max_width - 1) / max_width;
    clock_.now += batches * how_.cost.decode_step + decoding * how_.cost.decode_row;
  }
  for (auto at = rows_.begin(); at != rows_.end();) {
    auto& [id, one] = *at;
    bool gone = false;
    if (one.prefilling()) {
      if (interrupted_) {
        out.interrupted = true;
        ++at;
        continue;
      }
      prefill(id, one, std::min(prefilling, max_width), out);
    } else if (one.asked.continuations.empty()) {
      gone = decode(id, one, std::min(decoding, max_width), out);
    } else {
      gone = score(id, one, out);
    }
    at = gone ? rows_.erase(at) : std::next(at);
  }
  interrupted_ = false;
  return {};
}

void simulated_engine::prefill(row_id id, sequence& one, std::uint32_t beside, step_output& out) {
  const auto& asked = one.asked;
  auto until = std::min(one.tokens.size() + how_.prefill_chunk, asked.prompt.size());
  const bool may_cut = one.next_cut < asked.cuts.size();
  if (may_cut) until = std::min<std::size_t>(until, asked.cuts[one.next_cut]);
  const auto fed = until - one.tokens.size();
  for (auto at = one.tokens.size(); at < until; ++at) {
    one.tokens.push_back(asked.prompt[at]);
    one.state = after(one.state, asked.prompt[at]);
  }
  one.at_cut = may_cut && until == asked.cuts[one.next_cut];
  if (one.at_cut) ++one.next_cut;
  one.packed = one.prefilling() && (one.packed || beside > 1);
  counted_.prompt_tokens += fed;
  clock_.now += static_cast<std::int64_t>(fed) * how_.cost.prefill_token;
  out.prefill.push_back({.row = id,
                         .processed = static_cast<std::uint32_t>(until),
                         .at_cut = one.at_cut,
                         .batch_rows = beside});
}

token simulated_engine::next_of(std::span<const token> tokens, std::uint64_t state) const {
  return how_.next ? how_.next(tokens) : static_cast<token>('a' + state % 26);
}

bool simulated_engine::decode(row_id id, sequence& one, std::uint32_t beside, step_output& out) {
  const auto made = next_of(one.tokens, one.state);
  if (made == end_token) {
    out.tokens.push_back({.row = id, .id = made, .text = {}, .end = true, .batch_rows = beside});
    return true;
  }
  ++counted_.generated_tokens;
  if (one.asked.prompt.size() + one.asked.max_tokens <= one.tokens.size()) {
    throw std::logic_error("a row was not removed after its last token");
  }
  auto& said = out.tokens.emplace_back();
  said.row = id;
  said.id = made;
  said.text = text_of(made);
  said.batch_rows = beside;
  if (one.asked.logprobs) {
    said.logprob = logprob_of(one.state);
    for (std::uint32_t rank = 0; rank < one.asked.top_logprobs; ++rank) {
      said.top.push_back({static_cast<token>((made + static_cast<token>(rank)) % end_token),
                          *said.logprob - static_cast<float>(rank)});
    }
  }
  one.tokens.push_back(made);
  one.state = after(one.state, made);
  return false;
}

/// A token that is not the likeliest is less likely by one.
bool simulated_engine::score(row_id id, sequence& one, step_output& out) {
  const auto& continuation = one.asked.continuations[one.scored];
  auto tokens = one.tokens;
  auto state = one.state;
  scored told{.row = id, .continuation = one.scored, .is_greedy = true};
  for (const auto each : continuation) {
    const bool likeliest = next_of(tokens, state) == each;
    told.sum_logprob += static_cast<double>(logprob_of(state)) - (likeliest ? 0 : 1);
    told.is_greedy = told.is_greedy && likeliest;
    tokens.push_back(each);
    state = after(state, each);
  }
  clock_.now += static_cast<std::int64_t>(continuation.size()) * how_.cost.prefill_token;
  ++one.scored;
  told.last = one.scored == one.asked.continuations.size();
  out.scores.push_back(told);
  return told.last;
}

bool simulated_engine::remove(row_id row) {
  if (row == 0 || row > last_row_) throw std::logic_error("a row that never was is removed");
  const auto found = rows_.find(row);
  if (found == rows_.end()) return true;
  if (how_.holds_prefilling_rows && found->second.packed && !found->second.lost) {
    ++counted_.refused_removals;
    return false;
  }
  rows_.erase(found);
  return true;
}

std::optional<std::uint64_t> simulated_engine::snapshot_bytes(std::uint32_t tokens) const {
  if (!how_.knows_snapshot_size) return std::nullopt;
  return tokens * how_.snapshot_token_bytes;
}

result<std::shared_ptr<const snapshot>> simulated_engine::take_snapshot(row_id row) {
  if (snapshot_fault_) return *std::exchange(snapshot_fault_, std::nullopt);
  const auto found = rows_.find(row);
  if (found == rows_.end() || !found->second.at_cut)
    throw std::logic_error("a snapshot of a row off its cuts");
  ++counted_.snapshots;
  clock_.now += how_.cost.snapshot;
  const auto& one = found->second;
  return std::shared_ptr<const snapshot>(std::make_shared<kept_row>(
      counted_.snapshots, one.tokens, one.state, one.tokens.size() * how_.snapshot_token_bytes,
      live_snapshots_, snapshot_tokens_));
}

}  // namespace evalcore::engine
