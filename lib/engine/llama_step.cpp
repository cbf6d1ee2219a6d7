// The steps of llama_engine: what it computes, and what is read from it.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/llama_engine.hpp"
#include "engine/llama_log.hpp"
#include "engine/llama_text.hpp"

namespace evalcore::engine {

result<void> llama_engine::step(std::uint32_t max_width, step_output& out) {
  out.clear();
  needs_.clear();
  for (auto& row : rows_) {
    row->at_cut = false;
    needs_.push_back(row->need());
  }
  plan_step(needs_, mode_, max_width, plan_);
  for (std::size_t index = 0; index < plan_.ends.size(); ++index) {
    const auto chunks = plan_.batch(index);
    auto done = compute(chunks);
    if (!done) return std::move(done).error();
    if (!*done) {
      out.interrupted = true;
      break;
    }
    std::int32_t first = 0;
    for (const auto& one : chunks) {
      read_chunk(*rows_[one.row], one.tokens, first, static_cast<std::uint32_t>(chunks.size()), out);
      first += static_cast<std::int32_t>(one.tokens);
    }
  }
  drop_gone();
  stop_.store(false, std::memory_order_relaxed);
  return {};
}

/// False: interrupted, and no row has moved.
result<bool> llama_engine::compute(std::span<const row_chunk> chunks) {
  if (stop_.load(std::memory_order_relaxed)) return false;
  input_.clear();
  for (const auto& one : chunks) {
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
  for (const auto& one : chunks) trim(*rows_[one.row]);
  if (code == 2) return false;
  auto failure = fail(errc::backend_fault, stage::body,
                      code == 1 ? "llama.cpp has no room for the tokens of open rows"
                                : "llama.cpp failed to compute (" + std::to_string(code) + ")");
  failure.backend_words = take_llama_words();
  return failure;
}

void llama_engine::read_chunk(llama_row& row, std::uint32_t tokens, std::int32_t first, std::uint32_t width,
                              step_output& out) {
  if (row.gone) return;
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
  const auto next = next_at(row, last, out);
  if (!next) return;
  row.scores.at_end_of_prompt(*next);
  report_scores(row, out);
}

void llama_engine::read_continuation(llama_row& row, std::uint32_t tokens, std::int32_t first,
                                     step_output& out) {
  row.held += tokens;
  for (std::uint32_t at = 0; at < tokens; ++at) {
    const auto next = next_at(row, first + static_cast<std::int32_t>(at), out);
    if (!next) return;
    row.scores.add(*next);
  }
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
  const auto next = next_at(row, index, out);
  if (!next) return;
  const bool wants_logprob = row.asked.logprobs || row.asked.top_logprobs > 0;
  generated& given = out.tokens.emplace_back();
  given.row = row.id;
  given.batch_rows = width;
  given.id = row.chooser.choose(*next, logits(index));
  if (wants_logprob) given.logprob = static_cast<float>(next->logprob(given.id));
  if (row.asked.top_logprobs > 0) given.top = next->top(row.asked.top_logprobs);
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

/// Absent: what the model says there is no number, and the row has failed.
std::optional<next_token> llama_engine::next_at(llama_row& row, std::int32_t index, step_output& out) {
  const next_token next(logits(index));
  if (next.finite()) return next;
  row.gone = true;
  out.failures.push_back({row.id, fail(errc::backend_fault, stage::body,
                                       "the model computed no number for a token (NaN or infinity): its file "
                                       "may be damaged")});
  return std::nullopt;
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

}  // namespace evalcore::engine
