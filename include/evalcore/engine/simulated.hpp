#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Moves only when it is told to.
struct virtual_clock {
  instant now;
};

/// What work costs, on the virtual clock.
struct simulated_cost {
  duration prefill_token = {};
  duration decode_step = {};  ///< Of a tensor batch, whatever its width,
  duration decode_row = {};   ///< and for each row in it.
  duration snapshot = {};
};

struct simulated_options {
  traits about = {.name = "simulated",
                  .model = "simulated",
                  .identity = {},
                  .max_rows = 256,
                  .context_tokens = 1U << 20U,
                  .exact = true,
                  .snapshots = true,
                  .scoring = true};
  simulated_cost cost;
  std::uint32_t prefill_chunk = 256;  ///< Tokens that one step computes of each prompt.
  /// Rows that prefilled in one tensor batch stay until their prompts are whole: remove() says so.
  bool holds_prefilling_rows = false;
  std::uint64_t snapshot_token_bytes = 1024;
  bool knows_snapshot_size = true;  ///< Before it is taken.
  /// Rows and snapshots share a memory of so many tokens: of what rows may come to hold beside what they
  /// restored, and of all snapshots. Absent: there is room for all.
  std::optional<std::uint64_t> shared_tokens;
  memory_report memory;
  /// The token after those of a row. Null: a letter that depends on each of them.
  std::function<token(std::span<const token>)> next;
};

/// An engine without a model: each next token depends on the tokens before it in the row and on nothing else.
/// Its vocabulary is bytes, an end and a beginning. It holds whoever drives it to the contract of
/// step_engine: what breaks it throws std::logic_error.
class simulated_engine final : public step_engine {
 public:
  static constexpr token end_token = 256;
  static constexpr token begin_token = 257;

  /// What was done since the start.
  struct counters {
    std::uint64_t opened = 0;
    std::uint64_t steps = 0;
    std::uint64_t prompt_tokens = 0;  ///< Computed: restored ones not included.
    std::uint64_t generated_tokens = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t refused_removals = 0;
  };

  /// `clock` outlives the engine.
  simulated_engine(simulated_options how, virtual_clock& clock);
  ~simulated_engine() override;

  [[nodiscard]] const counters& counted() const noexcept { return counted_; }
  [[nodiscard]] std::size_t open_rows() const noexcept { return rows_.size(); }
  /// Snapshots that somebody still keeps.
  [[nodiscard]] std::int64_t live_snapshots() const noexcept { return *live_snapshots_; }
  /// Tokens of all those.
  [[nodiscard]] std::uint64_t live_snapshot_tokens() const noexcept { return *snapshot_tokens_; }
  void set_memory(const memory_report& now) { how_.memory = now; }

  /// The next call of that name fails with this.
  void fail_open(error why) { open_fault_ = std::move(why); }
  void fail_step(error why) { step_fault_ = std::move(why); }
  void fail_snapshot(error why) { snapshot_fault_ = std::move(why); }
  /// No row can be opened from a snapshot that was taken so far.
  void damage_snapshots() { damaged_through_ = counted_.snapshots; }

  [[nodiscard]] const traits& about() const override { return how_.about; }
  [[nodiscard]] result<rendered> render(const chat::request& request) override;
  [[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, bool special) override;
  [[nodiscard]] result<row_id> open(row_request request) override;
  [[nodiscard]] result<void> step(std::uint32_t max_width, step_output& out) override;
  [[nodiscard]] bool remove(row_id row) override;
  void interrupt() noexcept override { interrupted_ = true; }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override;
  [[nodiscard]] result<std::shared_ptr<const snapshot>> take_snapshot(row_id row) override;
  [[nodiscard]] memory_report memory() const override { return how_.memory; }

 private:
  struct sequence {
    row_request asked;
    std::vector<token> tokens;  ///< Those that are computed, prompt and answer.
    std::uint64_t state = 0;    ///< A hash of them.
    std::size_t next_cut = 0;
    bool at_cut = false;
    bool packed = false;  ///< It prefills beside others.
    bool lost = false;    ///< In a step that failed.
    std::size_t scored = 0;
    [[nodiscard]] bool prefilling() const { return tokens.size() < asked.prompt.size(); }
  };

  [[nodiscard]] bool has_room_for(const row_request& request) const;
  [[nodiscard]] token next_of(std::span<const token> tokens, std::uint64_t state) const;
  void prefill(row_id id, sequence& one, std::uint32_t beside, step_output& out);
  [[nodiscard]] bool decode(row_id id, sequence& one, std::uint32_t beside, step_output& out);
  [[nodiscard]] bool score(row_id id, sequence& one, step_output& out);

  simulated_options how_;
  virtual_clock& clock_;
  std::map<row_id, sequence> rows_;
  row_id last_row_ = 0;
  counters counted_;
  std::uint64_t damaged_through_ = 0;  ///< Snapshots up to this number.
  std::shared_ptr<std::atomic<std::int64_t>> live_snapshots_;
  std::shared_ptr<std::atomic<std::uint64_t>> snapshot_tokens_;  ///< Of those.
  std::atomic<bool> interrupted_ = false;
  std::optional<error> open_fault_;
  std::optional<error> step_fault_;
  std::optional<error> snapshot_fault_;
};

}  // namespace evalcore::engine
