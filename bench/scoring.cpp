// bench_scoring FILE: how many items a scorer judges in a second of processor time, on one thread, and what a
// bootstrap takes. A line of FILE is a reply as tests/tools/score_replies.cpp reads them, with "scorer" (a
// name, or an object with its options) and "group", under which it is counted. Prints a JSON object:
//
//   groups          of each group items, right, items_per_s
//   bootstrap_f1_s  processor seconds of 100,000 resamples of the F1 over 2,000 items, with their interval
//   bootstrap_f1    {standard_error, low, high} of these
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/processor_time.hpp>
#include <evalcore/score/scorer.hpp>
#include <evalcore/stats/bootstrap.hpp>

#include "tools/item_to_score.hpp"

using namespace evalcore;

namespace {

constexpr double least_seconds = 0.5;
constexpr std::size_t f1_items = 2'000;
constexpr std::size_t f1_resamples = 100'000;

struct group {
  std::shared_ptr<const score::scorer> judge;
  std::vector<std::unique_ptr<test::item_to_score>> items;
  std::uint64_t right = 0;

  /// Judges all items once.
  void judge_all() {
    right = 0;
    for (const auto& one : items) {
      const auto verdict = judge->score(one->task(), one->answer);
      right += static_cast<std::uint64_t>(verdict.scored && verdict.value == 1);
    }
  }
};

void report(group& of, json::writer& out) {
  of.judge_all();
  const double begun = processor_seconds();
  std::uint64_t rounds = 0;
  double taken = 0;
  for (; taken < least_seconds; taken = processor_seconds() - begun, ++rounds) of.judge_all();
  out.begin_object().key("items").number(static_cast<std::uint64_t>(of.items.size()));
  out.key("right").number(of.right);
  out.key("items_per_s").number(static_cast<double>(rounds * of.items.size()) / taken);
  out.end_object();
}

/// Whether an item is in the class, and is said to be: three in ten are, and seven in ten of both are found.
std::vector<std::array<double, 2>> classified() {
  std::vector<std::array<double, 2>> items;
  for (std::size_t i = 0; i < f1_items; ++i) {
    const bool in_class = i % 10 < 3;
    const bool said = i / 10 % 10 < 7 ? in_class : !in_class;
    items.push_back(
        {in_class && said ? 2.0 : 0.0, static_cast<double>(in_class) + static_cast<double>(said)});
  }
  return items;
}

void report_bootstrap(json::writer& out) {
  const auto items = classified();
  const double begun = processor_seconds();
  const auto seen =
      stats::summarize(stats::bootstrap_replicates<2>(items, 1234, 0, f1_resamples, stats::ratio_of_sums));
  out.key("bootstrap_f1_s").number(processor_seconds() - begun);
  out.key("bootstrap_f1").begin_object().key("standard_error").number(seen->standard_error);
  out.key("low").number(seen->bounds.low).key("high").number(seen->bounds.high).end_object();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench_scoring FILE\n", stderr);
    return 2;
  }
  std::map<std::string, group> groups;
  std::ifstream lines(argv[1]);
  for (std::string line; std::getline(lines, line);) {
    auto item = test::item_to_score::read(line);
    const auto* named = item ? item->whole.find("scorer") : nullptr;
    if (named == nullptr) {
      std::fprintf(stderr, "bench_scoring: no item with a scorer: %s\n", line.c_str());
      return 2;
    }
    auto& into = groups[item->text("group")];
    if (!into.judge) {
      auto made =
          score::find_scorer(named->if_string() != nullptr ? *named->if_string() : json::to_text(*named));
      if (!made) {
        std::fprintf(stderr, "bench_scoring: %s\n", made.error().message.c_str());
        return 2;
      }
      into.judge = *std::move(made);
    }
    into.items.push_back(std::make_unique<test::item_to_score>(*std::move(item)));
  }
  json::writer out;
  out.begin_object().key("groups").begin_object();
  for (auto& [name, of] : groups) {
    out.key(name);
    report(of, out);
  }
  out.end_object();
  report_bootstrap(out);
  out.end_object();
  std::puts(out.text().c_str());
  return 0;
}
