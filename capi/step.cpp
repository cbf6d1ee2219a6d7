#include "step.hpp"

#include <algorithm>
#include <new>

#include "error.hpp"

using evalcore::engine::generated;

namespace {

/// No exception may enter the host's code.
template <class Tell>
void tell(evc_step& step, Tell&& what) noexcept {
  try {
    what();
  } catch (const std::bad_alloc&) {
    step.no_memory = true;
  }
}

}  // namespace

void evc_step::begin(evalcore::engine::step_output& into) {
  out = &into;
  out->clear();
  texts.clear();
  ends.clear();
  fault.clear();
  no_memory = false;
}

void evc_step::finish() {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < out->tokens.size(); ++i) {
    out->tokens[i].text = std::string_view(texts).substr(begin, ends[i] - begin);
    begin = ends[i];
  }
}

bool evc_step::knows(evalcore::engine::row_id row) {
  if (open.contains(row)) return true;
  if (fault.empty()) fault = "it told of row " + std::to_string(row) + ", which is not open";
  return false;
}

generated* evc_step::last_token() {
  if (!out->tokens.empty()) return &out->tokens.back();
  if (fault.empty()) fault = "it told of a token's probability before any token";
  return nullptr;
}

void evc_step_prefilled(evc_step* step, uint64_t row, uint32_t processed, int32_t at_cut,
                        uint32_t batch_rows) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (step->knows(row))
      step->out->prefill.push_back({row, processed, at_cut != 0, std::max(batch_rows, 1U)});
  });
}

void evc_step_token(evc_step* step, uint64_t row, int32_t token, evc_str text,
                    uint32_t batch_rows) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (!step->knows(row)) return;
    step->texts += evalcore::capi::view(text);
    step->ends.push_back(step->texts.size());
    step->out->tokens.push_back({.row = row, .id = token, .batch_rows = std::max(batch_rows, 1U)});
  });
}

void evc_step_logprob(evc_step* step, float logprob) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (auto* token = step->last_token()) token->logprob = logprob;
  });
}

void evc_step_likely(evc_step* step, int32_t token, float logprob) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (auto* last = step->last_token()) last->top.push_back({token, logprob});
  });
}

void evc_step_end(evc_step* step, uint64_t row, int32_t token, uint32_t batch_rows) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (!step->knows(row)) return;
    step->ends.push_back(step->texts.size());
    step->out->tokens.push_back(
        {.row = row, .id = token, .end = true, .batch_rows = std::max(batch_rows, 1U)});
    step->open.erase(row);
  });
}

void evc_step_scored(evc_step* step, uint64_t row, size_t continuation, double sum_logprob, int32_t is_greedy,
                     int32_t last) EVC_NOEXCEPT {
  tell(*step, [&] {
    if (!step->knows(row)) return;
    step->out->scores.push_back({row, continuation, sum_logprob, is_greedy != 0, last != 0});
    if (last != 0) step->open.erase(row);
  });
}

void evc_step_interrupted(evc_step* step) EVC_NOEXCEPT { step->out->interrupted = true; }
