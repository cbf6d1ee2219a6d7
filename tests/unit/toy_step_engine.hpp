#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Computes tokens from sums over the prompt, and can be told to let them depend on what they must not.
class toy_step_engine final : public step_engine {
 public:
  std::uint32_t wrong_from_width = 0;  ///< A batch of so many rows changes the last bit; 0: none does.
  std::uint32_t wrong_at_width = 0;    ///< A batch of just so many rows does.
  bool first_token_alone = false;      ///< It comes with the prompt, and depends on no width.
  bool wrong_when_restored = false;
  bool wrong_beside_others = false;  ///< Whatever the width.
  bool tells_logprobs = true;        ///< Else a wrong row has wrong tokens.
  std::optional<error> open_fault;
  std::optional<error> restore_fault;   ///< Of every row that begins with a snapshot.
  std::optional<error> snapshot_fault;  ///< Of every snapshot.
  std::optional<error> row_fault;       ///< Of every row, in place of its first token.
  bool does_nothing = false;            ///< In a step.
  bool leaves_late = false;             ///< A row goes only when it is asked for the second time.
  std::uint32_t prompt_tokens = 0;      ///< Computed since the beginning.
  std::uint32_t answer_tokens = 0;

  explicit toy_step_engine(std::uint32_t rows = 16, std::uint32_t context = 1024) {
    about_.name = "toy";
    about_.max_rows = rows;
    about_.context_tokens = context;
    about_.prefix_grid = 64;
    about_.snapshots = true;
  }

  void say_exact() { about_.exact = true; }
  void identify(const std::string& who) { about_.identity["toy"] = who; }
  [[nodiscard]] std::size_t open_rows() const { return rows_.size(); }

  [[nodiscard]] const traits& about() const override { return about_; }
  [[nodiscard]] result<rendered> render(const chat::request&) override {
    return fail(errc::unsupported, stage::none, "a toy has no template");
  }
  [[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, bool) override {
    return std::vector<token>(text.begin(), text.end());
  }
  [[nodiscard]] result<row_id> open(row_request request) override {
    if (open_fault) return *open_fault;
    if (restore_fault && request.from) return *restore_fault;
    if (rows_.size() == about_.max_rows) return fail(errc::busy, stage::none, "full");
    row made{std::move(request)};
    made.held = made.asked.restored;
    rows_.emplace(++last_, std::move(made));
    return last_;
  }

  [[nodiscard]] result<void> step(std::uint32_t max_width, step_output& out) override {
    out.clear();
    if (does_nothing) return {};
    std::vector<std::pair<const row_id, row>*> decoding;
    for (auto& entry : rows_) {
      row& one = entry.second;
      const auto end = static_cast<std::uint32_t>(one.asked.prompt.size());
      if (one.held == end) {
        decoding.push_back(&entry);
        continue;
      }
      const auto stop = !one.asked.cuts.empty() && one.held < one.asked.cuts[0] ? one.asked.cuts[0] : end;
      prompt_tokens += stop - one.held;
      one.held = stop;
      out.prefill.push_back({entry.first, one.held, one.held < end, 1});
    }
    for (std::size_t at = 0; at < decoding.size(); at += max_width) {
      const auto width = static_cast<std::uint32_t>(std::min<std::size_t>(max_width, decoding.size() - at));
      for (std::size_t index = at; index < at + width; ++index) {
        if (row_fault) {
          const auto id = decoding[index]->first;
          out.failures.push_back({id, *row_fault});
          rows_.erase(id);
        } else {
          out.tokens.push_back(next(*decoding[index], width));
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool remove(row_id id) override {
    const auto found = rows_.find(id);
    if (found == rows_.end()) return true;
    if (leaves_late && !std::exchange(found->second.leaves, true)) return false;
    rows_.erase(found);
    return true;
  }
  void interrupt() noexcept override {}
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] result<std::shared_ptr<const snapshot>> take_snapshot(row_id) override {
    if (snapshot_fault) return *snapshot_fault;
    struct nothing final : snapshot {
      [[nodiscard]] std::uint64_t bytes() const noexcept override { return 0; }
    };
    return std::shared_ptr<const snapshot>(std::make_shared<nothing>());
  }
  [[nodiscard]] memory_report memory() const override { return {}; }

 private:
  struct row {
    row_request asked;
    std::uint32_t held = 0;
    std::uint32_t answered = 0;
    bool leaves = false;
  };

  generated next(std::pair<const row_id, row>& entry, std::uint32_t width) {
    row& one = entry.second;
    std::uint32_t sum = ++one.answered;
    for (const auto id : one.asked.prompt) sum = sum * 31 + static_cast<std::uint32_t>(id);
    float logprob = -1.0F / static_cast<float>(1 + sum % 1000);
    ++answer_tokens;
    if (first_token_alone && one.answered == 1) width = 0;
    const bool wrong = (wrong_from_width > 0 && width >= wrong_from_width) ||
                       (wrong_at_width > 0 && width == wrong_at_width) ||
                       (wrong_when_restored && one.asked.from) || (wrong_beside_others && rows_.size() > 1);
    if (wrong) logprob = std::bit_cast<float>(std::bit_cast<std::uint32_t>(logprob) + 1);
    generated given;
    given.row = entry.first;
    given.id = static_cast<token>((sum + (wrong && !tells_logprobs ? 1 : 0)) % 97);
    if (tells_logprobs) given.logprob = logprob;
    given.batch_rows = std::max(width, 1U);
    return given;
  }

  traits about_;
  std::map<row_id, row> rows_;
  row_id last_ = 0;
};

}  // namespace evalcore::engine
