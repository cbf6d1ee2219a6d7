#include "engine/llama_engine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/llama_log.hpp"
#include "engine/llama_state.hpp"
#include "engine/llama_text.hpp"
#include "engine/machine_memory.hpp"
#include "engine/row_check.hpp"

namespace evalcore::engine {
namespace {

const llama_snapshot* snapshot_of(const row_request& request) {
  return dynamic_cast<const llama_snapshot*>(request.from.get());
}

}  // namespace

result<std::unique_ptr<step_engine>> llama_engine::open_model(const llama_options& options) {
  std::unique_ptr<llama_engine> made(new llama_engine(options.mode));
  auto loaded = load_llama(options, made->stop_);
  if (!loaded) return std::move(loaded).error();
  made->loaded_ = *std::move(loaded);
  made->vocabulary_ = llama_model_get_vocab(made->loaded_.model.get());
  made->vocabulary_size_ = llama_vocab_n_tokens(made->vocabulary_);
  const char* own_template = llama_model_chat_template(made->loaded_.model.get(), nullptr);
  made->template_ = std::make_unique<chat_template>(own_template == nullptr ? "" : own_template);
  auto* context = made->loaded_.context.get();
  const auto state = measure_state(context);
  if (!state) return state.error();
  made->state_bytes_ = state->empty;
  made->token_bytes_ = state->a_token;
  const auto rows = static_cast<llama_seq_id>(made->about().max_rows);
  for (llama_seq_id sequence = 0; sequence < rows; ++sequence) made->free_.insert(sequence);
  made->keeper_ = options.mode == evaluation::parity
                      ? copying_keeper(context)
                      : sharing_keeper(context, rows, shared_snapshots, made->token_bytes_);
  return std::unique_ptr<step_engine>(std::move(made));
}

result<rendered> llama_engine::render(const chat::request& request) {
  return template_->render(request, beginning_of(vocabulary_), today());
}

result<std::vector<token>> llama_engine::tokenize(std::string_view text, bool special) {
  return tokens_of(vocabulary_, text, special);
}

result<void> llama_engine::check_room(const row_request& request) const {
  if (free_.empty())
    return fail(errc::busy, stage::send, "all " + std::to_string(rows_.size()) + " rows are taken");
  const auto shared = keeper_->held();
  if (!shared) return {};
  std::uint64_t taken = *shared + most_held(request) - request.restored;
  for (const auto& row : rows_) taken += row->reserved;
  if (taken > llama_n_ctx(loaded_.context.get()))
    return fail(errc::busy, stage::send, "rows and snapshots fill the memory that they share");
  return {};
}

result<void> llama_engine::check_snapshot(const row_request& request) const {
  if (!request.from) return {};
  const auto* kept = snapshot_of(request);
  if (kept == nullptr || !keeper_->owns(*kept))
    return fail(errc::invalid_argument, stage::send, "the snapshot is of another engine");
  if (kept->tokens.size() < request.restored ||
      !std::equal(kept->tokens.begin(), kept->tokens.begin() + request.restored, request.prompt.begin()))
    return fail(errc::invalid_argument, stage::send, "the snapshot is not of the beginning of the prompt");
  // Of a sliding window only what its end sees is copied.
  if (!keeper_->held() && llama_model_n_swa(loaded_.model.get()) > 0 &&
      kept->tokens.size() != request.restored)
    return fail(errc::invalid_argument, stage::send,
                "a model with a sliding window restores a snapshot as a whole only");
  return {};
}

result<row_id> llama_engine::open(row_request request) {
  if (auto good = check_row(request, about(), vocabulary_size_); !good) return std::move(good).error();
  if (auto good = check_snapshot(request); !good) return std::move(good).error();
  if (auto good = check_room(request); !good) return std::move(good).error();

  auto row = std::make_unique<llama_row>();
  row->id = last_id_ + 1;
  row->sequence = *free_.begin();
  row->reserved = most_held(request) - request.restored;
  row->scores = continuation_scores(std::exchange(request.continuations, {}));
  if (!row->scores.wanted())
    row->chooser = token_chooser(request.how, request.prompt, vocabulary_size_, about().context_tokens);
  row->asked = std::move(request);
  if (auto good = restore(*row); !good) return std::move(good).error();
  free_.erase(row->sequence);
  ++last_id_;
  rows_.push_back(std::move(row));
  return last_id_;
}

result<void> llama_engine::restore(llama_row& row) {
  if (!row.asked.from) return {};
  static_cast<void>(take_llama_words());
  if (!keeper_->restore(*snapshot_of(row.asked), row.asked.restored, row.sequence)) {
    auto failure = fail(errc::backend_fault, stage::send, "llama.cpp cannot restore a snapshot");
    failure.backend_words = take_llama_words();
    return failure;
  }
  row.held = row.asked.restored;
  if (!keeper_->held()) row.asked.from.reset();
  return {};
}

std::optional<std::uint64_t> llama_engine::snapshot_bytes(std::uint32_t tokens) const {
  if (keeper_->held()) return std::nullopt;  // It depends on how many are another snapshot's.
  return state_bytes_ + tokens * (token_bytes_ + sizeof(token));
}

result<std::shared_ptr<const snapshot>> llama_engine::take_snapshot(row_id row) {
  const auto found = std::ranges::find(rows_, row, &llama_row::id);
  if (found == rows_.end() || !(*found)->at_cut)
    return fail(errc::invalid_argument, stage::body, "the row does not stand at one of its cuts");
  auto& standing = **found;
  const auto& prompt = standing.asked.prompt;
  auto kept = keeper_->take(standing.sequence, {prompt.begin(), prompt.begin() + standing.held},
                            standing.asked.from, standing.asked.from ? standing.asked.restored : 0);
  if (!kept) return std::move(kept).error();
  if (keeper_->held()) {
    standing.reserved -= standing.held - standing.asked.restored;
    standing.asked.restored = standing.held;
    standing.asked.from = *kept;
  }
  return std::shared_ptr<const snapshot>(*std::move(kept));
}

memory_report llama_engine::memory() const { return machine_memory(); }

result<std::unique_ptr<step_engine>> open_llama(const llama_options& options) {
  return llama_engine::open_model(options);
}

}  // namespace evalcore::engine
