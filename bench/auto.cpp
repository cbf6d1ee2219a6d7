// bench_auto: the adaptive concurrency limit against simulated servers with a hidden limit, on a virtual
// clock, beside the best of several fixed limits over the same requests. 20 seeds. Prints a table on standard
// error and the figures as JSON on standard output.
//
// worst_share_of_best   throughput from second 60 to 300, divided by that of the best fixed limit; after a
// step,
//                       from 30 seconds after it until the end (60 seconds)
// worst_makespan_share  makespan of the best fixed limit divided by that of auto, over a suite that takes 330
//                       seconds with all slots busy, from the first request to the last
// worst_rejected        attempts turned away (429, 500, or the server was down), divided by those sent
// worst_step_back_s     seconds after a step until throughput is at least 95 % of the best fixed limit's
// *_case                the server that gave the figure. All are means over the seeds.
// unseen_*              the same over limits (7, 37, 120) that nothing was chosen with in view
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <evalcore/base/json.hpp>

#include "auto/cases.hpp"

using namespace evalcore;

namespace {

constexpr std::uint64_t seeds = 20;

class worst {
 public:
  explicit worst(bool high_is_bad) : high_is_bad_(high_is_bad) {}
  void see(double value, const std::string& name) {
    if (!name_.empty() && (high_is_bad_ ? value <= value_ : value >= value_)) return;
    value_ = value;
    name_ = name;
  }
  void write(json::writer& out, const std::string& key) const {
    if (name_.empty()) return;
    out.key(key).number(value_);
    out.key(key + "_case").string(name_);
  }

 private:
  bool high_is_bad_;
  double value_ = 0;
  std::string name_;
};

struct figures {
  worst share_of_best{false};
  worst makespan_share{false};
  worst rejected{true};
  worst step_back{true};

  void see(const bench::limit_case& one, const bench::limit_result& result) {
    share_of_best.see(result.of_best.mean, one.name);
    rejected.see(result.rejected.mean, one.name);
    if (one.steps()) {
      step_back.see(result.back_s, one.name);
    } else {
      makespan_share.see(result.of_makespan.mean, one.name);
    }
  }
  void write(json::writer& out, const std::string& prefix) const {
    share_of_best.write(out, prefix + "share_of_best");
    makespan_share.write(out, prefix + "makespan_share");
    rejected.write(out, prefix + "rejected");
    step_back.write(out, prefix + "step_back_s");
  }
};

void print(const bench::limit_case& one, const bench::limit_result& result) {
  std::fprintf(stderr, "%-16s%c %5u  %6.3f %6.3f  ", one.name.c_str(), one.unseen ? '*' : ' ',
               result.best_fixed, result.of_best.mean, result.of_best.worst);
  if (one.steps()) {
    std::fprintf(stderr, "%13s  ", "");
  } else {
    std::fprintf(stderr, "%6.3f %6.3f  ", result.of_makespan.mean, result.of_makespan.worst);
  }
  std::fprintf(stderr, "%7.4f %6.4f  %6.4f", result.rejected.mean, result.rejected.worst, result.lost.mean);
  if (one.steps()) std::fprintf(stderr, "  %4.0f", result.back_s);
  std::fprintf(stderr, "\n");
}

}  // namespace

int main() {
  std::fprintf(stderr, "%-17s %5s  %13s  %13s  %14s  %6s  %4s\n", "", "best", "throughput", "makespan",
               "rejected", "lost", "back");
  std::fprintf(stderr, "%-17s %5s  %6s %6s  %6s %6s  %7s %6s  %6s  %4s\n", "server (*: unseen)", "fixed",
               "mean", "worst", "mean", "worst", "mean", "worst", "mean", "s");
  figures seen;
  figures unseen;
  for (const auto& one : bench::limit_cases()) {
    const auto result = bench::measure_limit(one, seeds);
    print(one, result);
    (one.unseen ? unseen : seen).see(one, result);
  }
  json::writer out;
  out.begin_object();
  seen.write(out, "worst_");
  unseen.write(out, "unseen_");
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
