// bench_parity MODEL REQUESTS: the same requests in several ways on the in-process engine, compared to the
// bit. The figures, explained in parity.py, go to standard output as JSON.
#include <evalcore/engine/parity.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/engine/llama.hpp>

#include "engine/lockstep.hpp"

using namespace evalcore;
using namespace evalcore::engine;

namespace {

constexpr std::uint32_t answer_tokens = 16;
constexpr std::uint32_t rows_at_once = 16;

template <class T>
T must(result<T> outcome) {
  if (!outcome) {
    std::fprintf(stderr, "bench_parity: %s %s\n", outcome.error().message.c_str(),
                 outcome.error().backend_words.c_str());
    std::exit(1);
  }
  return *std::move(outcome);
}

std::string text_in(const json::value& object, std::string_view key) {
  const auto* member = object.find(key);
  return member != nullptr && member->if_string() != nullptr ? *member->if_string() : "";
}

chat::request request_of(const json::value& line) {
  chat::request request;
  for (const auto& one : *line.find("messages")->if_array()) {
    auto& turn = request.messages.emplace_back();
    turn.who = chat::role_from(text_in(one, "role")).value_or(chat::role::user);
    turn.text = text_in(one, "content");
  }
  for (const auto& one : *line.find("tools")->if_array())
    request.tools.push_back({.name = text_in(one, "name"),
                             .description = text_in(one, "description"),
                             .parameters = json::to_text(*one.find("parameters"))});
  return request;
}

using prompts = std::vector<std::vector<token>>;

prompts read_prompts(step_engine& engine, const char* file) {
  prompts all;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto text = must(engine.render(request_of(must(json::parse(line)))));
    all.push_back(must(engine.tokenize(text.text, true)));
  }
  return all;
}

std::uint32_t shared_by(const prompts& all) {
  std::size_t shared = all.front().size() - 1;
  for (const auto& one : all) {
    const auto differs = std::ranges::mismatch(one, all.front()).in1 - one.begin();
    if (&one != &all.front()) shared = std::min(shared, static_cast<std::size_t>(differs));
  }
  return static_cast<std::uint32_t>(shared);
}

std::unique_ptr<step_engine> open_model(const char* model, evaluation mode) {
  return must(
      open_llama({.model_path = model, .mode = mode, .max_rows = rows_at_once, .context_tokens = 1280}));
}

/// The rows of all prompts; all but the first come from what the first keeps.
std::vector<row_answer> run(step_engine& engine, const prompts& all, std::uint32_t prefix,
                            std::size_t together, std::uint32_t width) {
  auto leader = greedy_row(all.front(), answer_tokens);
  if (prefix > 0) leader.request.cuts = {prefix};
  std::vector<planned_row> first;
  first.push_back(std::move(leader));
  auto answers = must(run_rows(engine, std::move(first), 1, 1));
  std::vector<planned_row> rest;
  for (std::size_t index = 1; index < all.size(); ++index) {
    rest.push_back(greedy_row(all[index], answer_tokens));
    if (prefix == 0) continue;
    rest.back().request.from = answers.front().kept;
    rest.back().request.restored = prefix;
  }
  auto others = must(run_rows(engine, std::move(rest), together, width));
  std::ranges::move(others, std::back_inserter(answers));
  for (auto& one : answers) one.kept.reset();
  return answers;
}

/// A third of the rows stays for some of its tokens only; the others' order is another one. Each answer is
/// cut to what was asked of it.
std::vector<row_answer> run_shuffled(step_engine& engine, const prompts& all, std::uint32_t prefix,
                                     std::uint32_t width, std::vector<row_answer>& wanted) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(11);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  auto keeps = greedy_row(all.front(), answer_tokens);
  keeps.request.cuts = {prefix};
  keeps.leaves_after = 1;
  std::vector<planned_row> first;
  first.push_back(std::move(keeps));
  auto kept = must(run_rows(engine, std::move(first), 1, 1)).front().kept;
  std::vector<planned_row> rows;
  for (const auto index : order) {
    auto row = greedy_row(all[index], answer_tokens);
    row.request.from = kept;
    row.request.restored = prefix;
    if (index % 3 == 0) row.leaves_after = static_cast<std::uint32_t>(1 + index % (answer_tokens - 1));
    rows.push_back(std::move(row));
  }
  auto answers = must(run_rows(engine, std::move(rows), rows_at_once, width));
  std::vector<row_answer> in_order(all.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    auto& whole = wanted[order[at]];
    if (order[at] % 3 == 0) {
      whole.tokens.resize(std::min(whole.tokens.size(), answers[at].tokens.size()));
      whole.logprobs.resize(std::min(whole.logprobs.size(), answers[at].logprobs.size()));
    }
    in_order[order[at]] = std::move(answers[at]);
  }
  return in_order;
}

class stopwatch {
 public:
  explicit stopwatch(json::writer& out) : out_(out) {}
  void lap(const char* name, const char* what) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    std::fprintf(stderr, "%-60s %8.1f s\n", what, seconds);
    out_.key(name).number(seconds);
    last_ = std::chrono::steady_clock::now();
  }

 private:
  json::writer& out_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: bench_parity MODEL REQUESTS\n");
    return 2;
  }
  json::writer out;
  out.begin_object();
  auto engine = open_model(arguments[1], evaluation::parity);
  const auto all = read_prompts(*engine, arguments[2]);
  const auto shared = shared_by(all);
  const auto grid = engine->about().prefix_grid;
  const auto prefix = shared / grid * grid;

  stopwatch watch(out);
  const auto verdict = must(check_parity(*engine));
  const auto width = std::max(verdict.width, 1U);
  watch.lap("self_test_s", "self-test");
  const auto cold = run(*engine, all, 0, 1, 1);
  watch.lap("sequential_cold_s", "one at a time, each from its first token");
  const auto warm = run(*engine, all, prefix, 1, 1);
  watch.lap("sequential_warm_s", "one at a time, from the prefix");
  const auto batched = run(*engine, all, prefix, rows_at_once, width);
  watch.lap("batched_s", "16 at once, from the prefix");
  auto cut = cold;
  const auto shuffled = run_shuffled(*engine, all, prefix, width, cut);
  watch.lap("shuffled_s", "16 at once, shuffled, rows leaving on the way");
  engine = open_model(arguments[1], evaluation::fast);
  watch.lap("open_s", "opening the model again");
  const auto fast = run(*engine, all, shared, rows_at_once, rows_at_once);
  watch.lap("fast_s", "16 at once, from the prefix, in fast");

  std::int64_t identical = 0;
  std::int64_t identical_fast = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const bool same =
        warm[at].same_bits(cold[at]) && batched[at].same_bits(cold[at]) && shuffled[at].same_bits(cut[at]);
    identical += same ? 1 : 0;
    identical_fast += fast[at].same_bits(cold[at]) ? 1 : 0;
  }
  out.key("requests").number(static_cast<std::int64_t>(all.size()));
  out.key("identical").number(identical);
  out.key("identical_fast").number(identical_fast);
  out.key("width").number(static_cast<std::int64_t>(verdict.width));
  out.key("prefix_tokens").number(static_cast<std::int64_t>(shared));
  out.end_object();
  std::puts(out.text().c_str());
  return 0;
}
