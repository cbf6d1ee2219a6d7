#include "engine/llama_engine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/llama_log.hpp"
#include "engine/llama_text.hpp"
#include "engine/machine_memory.hpp"
#include "engine/row_check.hpp"

namespace evalcore::engine {
namespace {

std::uint64_t most_tokens_of(const row_request& request) {
  std::size_t answer = request.max_tokens;
  if (!request.continuations.empty()) {
    answer = 0;
    for (const auto& one : request.continuations) answer = std::max(answer, one.size());
  }
  return request.prompt.size() + answer;
}

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
  if (auto good = made->measure_state(); !good) return std::move(good).error();
  const auto rows = static_cast<llama_seq_id>(options.max_rows);
  for (llama_seq_id sequence = 0; sequence < rows; ++sequence) made->free_.insert(sequence);
  auto* context = made->loaded_.context.get();
  made->keeper_ = options.mode == evaluation::parity
                      ? copying_keeper(context)
                      : sharing_keeper(context, rows, shared_snapshots, made->token_bytes_);
  return std::unique_ptr<step_engine>(std::move(made));
}

result<void> llama_engine::measure_state() {
  auto* context = loaded_.context.get();
  std::uint64_t sizes[2] = {};
  for (std::uint32_t position = 0; position < 2; ++position) {
    input_.clear();
    input_.add(0, position, 0, false);
    if (llama_decode(context, input_.batch()) != 0) {
      auto failure = fail(errc::backend_fault, stage::start, "llama.cpp cannot compute a first token");
      failure.backend_words = take_llama_words();
      return failure;
    }
    sizes[position] = llama_state_seq_get_size(context, 0);
  }
  token_bytes_ = sizes[1] - sizes[0];
  state_bytes_ = sizes[0] - token_bytes_;
  llama_memory_clear(llama_get_memory(context), true);
  return {};
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
  std::uint64_t taken = *shared + most_tokens_of(request) - request.restored;
  for (const auto& row : rows_) taken += row->reserved;
  if (taken > llama_n_ctx(loaded_.context.get()))
    return fail(errc::busy, stage::send, "rows and snapshots fill the memory that they share");
  return {};
}

result<row_id> llama_engine::open(row_request request) {
  if (auto good = check_row(request, about(), vocabulary_size_); !good) return std::move(good).error();
  if (request.from) {
    const auto* kept = snapshot_of(request);
    if (kept == nullptr || !keeper_->owns(*kept))
      return fail(errc::invalid_argument, stage::send, "the snapshot is of another engine");
    if (kept->tokens.size() < request.restored ||
        !std::equal(kept->tokens.begin(), kept->tokens.begin() + request.restored, request.prompt.begin()))
      return fail(errc::invalid_argument, stage::send, "the snapshot is not of the beginning of the prompt");
  }
  if (auto good = check_room(request); !good) return std::move(good).error();

  auto row = std::make_unique<llama_row>();
  row->id = last_id_ + 1;
  row->sequence = *free_.begin();
  row->reserved = most_tokens_of(request) - request.restored;
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

result<void> llama_engine::step(std::uint32_t max_width, step_output& out) {
  out.clear();
  stop_.store(false, std::memory_order_relaxed);
  needs_.clear();
  for (auto& row : rows_) {
    row->at_cut = false;
    needs_.push_back(row->need());
  }
  plan_step(needs_, mode_, max_width, plan_);
  for (std::size_t index = 0; index < plan_.ends.size(); ++index) {
    const auto pieces = plan_.batch(index);
    auto done = compute(pieces);
    if (!done) return std::move(done).error();
    if (!*done) {
      out.interrupted = true;
      break;
    }
    std::int32_t first = 0;
    for (const auto& one : pieces) {
      read_piece(*rows_[one.row], one.tokens, first, static_cast<std::uint32_t>(pieces.size()), out);
      first += static_cast<std::int32_t>(one.tokens);
    }
  }
  drop_gone();
  if (!numbers_)
    return fail(errc::backend_fault, stage::body, "the model computed no numbers: its file may be damaged");
  return {};
}

/// False: interrupted, and no row has moved.
result<bool> llama_engine::compute(std::span<const piece> pieces) {
  if (stop_.load(std::memory_order_relaxed)) return false;
  input_.clear();
  for (const auto& one : pieces) {
    const auto& row = *rows_[one.row];
    for (std::uint32_t at = 0; at < one.tokens; ++at) {
      const auto position = row.held + at;
      if (row.pending) {
        input_.add(*row.pending, position, row.sequence, true);
      } else if (row.in_prompt()) {
        input_.add(row.asked.prompt[position], position, row.sequence,
                   position + 1 == row.asked.prompt.size());
      } else {
        input_.add(row.scores.at(at), position, row.sequence, true);
      }
    }
  }
  static_cast<void>(take_llama_words());
  const auto code = llama_decode(loaded_.context.get(), input_.batch());
  if (code == 0) return true;
  for (const auto& one : pieces) trim(*rows_[one.row]);
  if (code == 2) return false;
  auto failure = fail(errc::backend_fault, stage::body,
                      code == 1 ? "llama.cpp has no room for the tokens of open rows"
                                : "llama.cpp failed to compute (" + std::to_string(code) + ")");
  failure.backend_words = take_llama_words();
  return failure;
}

void llama_engine::read_piece(llama_row& row, std::uint32_t tokens, std::int32_t first, std::uint32_t width,
                              step_output& out) {
  if (row.pending) {
    row.held += tokens;
    answer(row, first, width, out);
    return;
  }
  if (!row.in_prompt()) {
    read_continuation(row, tokens, first, out);
    return;
  }
  row.held += tokens;
  row.at_cut = row.next_cut < row.asked.cuts.size() && row.held == row.asked.cuts[row.next_cut];
  if (row.at_cut) ++row.next_cut;
  const auto seen = std::ranges::find(out.prefill, row.id, &prefilled::row);
  auto& report = seen == out.prefill.end() ? out.prefill.emplace_back() : *seen;
  report = {row.id, row.held, row.at_cut, std::max(report.batch_rows, width)};
  if (row.in_prompt()) return;
  const auto last = first + static_cast<std::int32_t>(tokens) - 1;
  if (!row.scores.wanted()) {
    answer(row, last, width, out);
    return;
  }
  row.scores.at_end_of_prompt(next_at(last));
  report_scores(row, out);
}

void llama_engine::read_continuation(llama_row& row, std::uint32_t tokens, std::int32_t first,
                                     step_output& out) {
  row.held += tokens;
  for (std::uint32_t at = 0; at < tokens; ++at)
    row.scores.add(next_at(first + static_cast<std::int32_t>(at)));
  report_scores(row, out);
}

void llama_engine::report_scores(llama_row& row, step_output& out) {
  while (auto done = row.scores.finished()) {
    done->row = row.id;
    row.gone = done->last;
    out.scores.push_back(*done);
    row.held = static_cast<std::uint32_t>(row.asked.prompt.size());
    trim(row);
  }
}

void llama_engine::answer(llama_row& row, std::int32_t index, std::uint32_t width, step_output& out) {
  const auto next = next_at(index);
  const bool wants_logprob = row.asked.logprobs || row.asked.top_logprobs > 0;
  generated& given = out.tokens.emplace_back();
  given.row = row.id;
  given.batch_rows = width;
  if (!numbers_) return;
  given.id = row.chooser.choose(next, logits(index));
  if (wants_logprob) given.logprob = static_cast<float>(next.logprob(given.id));
  if (row.asked.top_logprobs > 0) given.top = next.top(row.asked.top_logprobs);
  row.pending.reset();
  given.end = llama_vocab_is_eog(vocabulary_, given.id);
  row.gone = given.end;
  if (given.end) return;
  text_of(vocabulary_, given.id, row.text);
  given.text = row.text;
  if (++row.answered < row.asked.max_tokens) row.pending = given.id;
}

std::span<const float> llama_engine::logits(std::int32_t index) const {
  return {llama_get_logits_ith(loaded_.context.get(), index), static_cast<std::size_t>(vocabulary_size_)};
}

next_token llama_engine::next_at(std::int32_t index) {
  next_token next(logits(index));
  numbers_ = numbers_ && next.likeliest() >= 0;
  return next;
}

void llama_engine::trim(const llama_row& row) {
  llama_memory_seq_rm(llama_get_memory(loaded_.context.get()), row.sequence, static_cast<llama_pos>(row.held),
                      -1);
}

void llama_engine::drop_gone() {
  for (const auto& row : rows_) {
    if (!row->gone) continue;
    row->held = 0;
    trim(*row);
    free_.insert(row->sequence);
  }
  std::erase_if(rows_, [](const auto& row) { return row->gone; });
}

bool llama_engine::remove(row_id row) {
  const auto found = std::ranges::find(rows_, row, &llama_row::id);
  if (found != rows_.end()) (*found)->gone = true;
  drop_gone();
  return true;
}

std::optional<std::uint64_t> llama_engine::snapshot_bytes(std::uint32_t tokens) const {
  if (keeper_->held()) return tokens * token_bytes_;
  return state_bytes_ + tokens * (token_bytes_ + sizeof(token));
}

result<std::shared_ptr<const snapshot>> llama_engine::take_snapshot(row_id row) {
  const auto found = std::ranges::find(rows_, row, &llama_row::id);
  if (found == rows_.end() || !(*found)->at_cut)
    return fail(errc::invalid_argument, stage::body, "the row does not stand at one of its cuts");
  auto& standing = **found;
  const auto& prompt = standing.asked.prompt;
  auto kept = keeper_->take(standing.sequence, {prompt.begin(), prompt.begin() + standing.held});
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
