#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <evalcore/engine/llama.hpp>

#include "engine/llama_load.hpp"
#include "engine/llama_row.hpp"
#include "engine/llama_snapshot.hpp"
#include "engine/llama_template.hpp"

namespace evalcore::engine {

class llama_engine final : public step_engine {
 public:
  static result<std::unique_ptr<step_engine>> open_model(const llama_options& options);

  [[nodiscard]] const traits& about() const override { return loaded_.about; }
  [[nodiscard]] result<rendered> render(const chat::request& request) override;
  [[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, bool special) override;
  [[nodiscard]] result<row_id> open(row_request request) override;
  [[nodiscard]] result<void> step(std::uint32_t max_width, step_output& out) override;
  [[nodiscard]] bool remove(row_id row) override;
  void interrupt() noexcept override { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override;
  [[nodiscard]] result<std::shared_ptr<const snapshot>> take_snapshot(row_id row) override;
  [[nodiscard]] memory_report memory() const override;

 private:
  explicit llama_engine(evaluation mode) : mode_(mode) {}

  result<void> check_snapshot(const row_request& request) const;
  result<void> check_room(const row_request& request) const;
  result<void> restore(llama_row& row);
  result<bool> compute(std::span<const row_chunk> chunks);
  void read_chunk(llama_row& row, std::uint32_t tokens, std::int32_t first, std::uint32_t width,
                  step_output& out);
  void read_continuation(llama_row& row, std::uint32_t tokens, std::int32_t first, step_output& out);
  void report_scores(llama_row& row, step_output& out);
  void answer(llama_row& row, std::int32_t index, std::uint32_t width, step_output& out);
  [[nodiscard]] std::span<const float> logits(std::int32_t index) const;
  [[nodiscard]] std::optional<next_token> next_at(llama_row& row, std::int32_t index, step_output& out);
  void trim(const llama_row& row);
  void drop_gone();

  evaluation mode_;
  std::atomic<bool> stop_{false};
  loaded_model loaded_;
  const llama_vocab* vocabulary_ = nullptr;
  std::int32_t vocabulary_size_ = 0;
  std::unique_ptr<chat_template> template_;
  std::unique_ptr<snapshot_keeper> keeper_;
  std::uint64_t state_bytes_ = 0;                 ///< Of a state without tokens.
  std::uint64_t token_bytes_ = 0;                 ///< What each token adds.
  std::vector<std::unique_ptr<llama_row>> rows_;  ///< The oldest first.
  std::set<llama_seq_id> free_;
  row_id last_id_ = 0;
  std::vector<row_need> needs_;
  step_plan plan_;
  tensor_input input_;
};

}  // namespace evalcore::engine
