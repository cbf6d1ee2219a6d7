#include "engine/lockstep.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace evalcore::engine {
namespace {

class runner {
 public:
  runner(step_engine& engine, std::vector<planned_row> rows) : engine_(engine), rows_(std::move(rows)) {
    answers_.resize(rows_.size());
  }

  result<void> run(std::size_t together, std::uint32_t width) {
    step_output out;
    while (next_ < rows_.size() || !open_.empty() || !leaving_.empty()) {
      while (next_ < rows_.size() && open_.size() + leaving_.size() < together)
        if (auto good = open(); !good) return good;
      if (auto good = engine_.step(width, out); !good) return good;
      const auto left = ask_again();
      if (left == 0 && out.idle())
        return fail(errc::backend_fault, stage::start,
                    engine_.about().name + " has rows but does no work on them");
      if (auto good = read(out); !good) return good;
    }
    return {};
  }

  void remove_all() {
    for (const auto& [id, row] : open_) static_cast<void>(engine_.remove(id));
    ask_again();
  }

  std::vector<row_answer> take() { return std::move(answers_); }

 private:
  result<void> open() {
    auto& request = rows_[next_].request;
    answers_[next_].fed = static_cast<std::uint32_t>(request.prompt.size()) - request.restored;
    limits_.push_back(rows_[next_].leaves_after > 0 ? rows_[next_].leaves_after : request.max_tokens);
    auto id = engine_.open(std::move(request));
    if (!id) return std::move(id).error();
    open_.emplace(*id, next_++);
    return {};
  }

  /// What is told of rows that are leaving counts no more.
  result<void> read(const step_output& out) {
    if (auto good = read_failures(out); !good) return good;
    for (const auto& one : out.prefill) {
      const auto found = open_.find(one.row);
      if (found == open_.end()) continue;
      auto& answer = answers_[found->second];
      answer.widest = std::max(answer.widest, one.batch_rows);
      if (!one.at_cut || answer.kept || !engine_.about().snapshots) continue;
      auto kept = engine_.take_snapshot(one.row);
      if (kept)
        answer.kept = *std::move(kept);
      else if (kept.error().code == errc::no_memory)  // Says nothing of what the engine can do.
        return std::move(kept).error();
    }
    for (const auto& one : out.tokens) {
      const auto found = open_.find(one.row);
      if (found == open_.end()) continue;
      const auto row = found->second;
      auto& answer = answers_[row];
      answer.widest = std::max(answer.widest, one.batch_rows);
      if (one.logprob) answer.logprobs.push_back(*one.logprob);
      answer.top.insert(answer.top.end(), one.top.begin(), one.top.end());
      if (!one.end) answer.tokens.push_back(one.id);
      if (one.end || answer.tokens.size() == limits_[row]) leave(one.row);
    }
    for (const auto& one : out.scores) {
      const auto found = open_.find(one.row);
      if (found == open_.end()) continue;
      answers_[found->second].scores.push_back(one);
      if (one.last) open_.erase(found);
    }
    return {};
  }

  /// The first of a row that counts.
  result<void> read_failures(const step_output& out) {
    const error* first = nullptr;
    for (const auto& one : out.failures)
      if (open_.erase(one.row) > 0 && first == nullptr) first = &one.why;
    if (first != nullptr) return *first;
    return {};
  }

  void leave(row_id id) {
    if (!engine_.remove(id)) leaving_.push_back(id);
    open_.erase(id);
  }

  /// How many of those that could not leave have left now.
  std::size_t ask_again() {
    return std::erase_if(leaving_, [this](row_id id) { return engine_.remove(id); });
  }

  step_engine& engine_;
  std::vector<planned_row> rows_;
  std::vector<row_answer> answers_;
  std::vector<std::uint32_t> limits_;
  std::map<row_id, std::size_t> open_;
  std::vector<row_id> leaving_;  ///< Asked to leave, and not gone yet.
  std::size_t next_ = 0;
};

}  // namespace

planned_row greedy_row(std::vector<token> prompt, std::uint32_t answer_tokens) {
  planned_row row;
  row.request.prompt = std::move(prompt);
  row.request.max_tokens = answer_tokens;
  row.request.logprobs = true;
  return row;
}

bool row_answer::same_bits(const row_answer& other) const {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const auto same = [&](const likely& left, const likely& right) {
    return left.id == right.id && bits(left.logprob) == bits(right.logprob);
  };
  return tokens == other.tokens && std::ranges::equal(logprobs, other.logprobs, {}, bits, bits) &&
         std::ranges::equal(top, other.top, same);
}

result<std::vector<row_answer>> run_rows(step_engine& engine, std::vector<planned_row> rows,
                                         std::size_t together, std::uint32_t width) {
  runner all(engine, std::move(rows));
  if (auto good = all.run(together, width); !good) {
    all.remove_all();
    return std::move(good).error();
  }
  return all.take();
}

}  // namespace evalcore::engine
