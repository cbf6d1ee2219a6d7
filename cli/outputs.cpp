#include "outputs.hpp"

#include <cstdio>

#include "printable.hpp"

namespace evalcore::cli {

void print_scores(const run::summary& of) {
  for (const auto& metric : of.metrics) {
    std::printf("%s%s%s: ", printable(metric.category).c_str(), metric.category.empty() ? "" : " ",
                metric.metric.c_str());
    if (metric.scored == 0) {
      std::printf("not evaluated, none of %llu items is scored\n",
                  static_cast<unsigned long long>(metric.items));
      continue;
    }
    std::printf("%.4f", metric.score());
    if (metric.scored < metric.items) {
      std::printf(" (missing items wrong; %.4f if they were right)", metric.upper_bound());
    }
    if (const auto sure = metric.interval())
      std::printf(", 95 %% interval %.4f to %.4f,", sure->bounds.low, sure->bounds.high);
    std::printf(" over %llu items\n", static_cast<unsigned long long>(metric.items));
  }
  for (const auto& macro : of.macro_averages()) {
    std::printf("macro %s: %.4f", macro.metric.c_str(), macro.mean.value);
    if (const auto sure = macro.interval())
      std::printf(", 95 %% interval %.4f to %.4f,", sure->low, sure->high);
    std::printf(" over %llu categories", static_cast<unsigned long long>(macro.categories));
    if (macro.unevaluated > 0) {
      std::printf(", %llu of which were not evaluated and count as wrong",
                  static_cast<unsigned long long>(macro.unevaluated));
    }
    std::printf("\n");
  }
  if (const auto health = run::health_line(of); !health.empty()) std::printf("%s\n", health.c_str());
}

void print_report(const run::summary& of, const run::outputs& paths, bool written) {
  std::printf("%s: %llu items, %llu answered (%llu reused), %llu errors, %llu unscored",
              printable(of.task).c_str(), static_cast<unsigned long long>(of.items),
              static_cast<unsigned long long>(of.answered), static_cast<unsigned long long>(of.reused),
              static_cast<unsigned long long>(of.errors), static_cast<unsigned long long>(of.unscored));
  if (of.not_run > 0) std::printf(", %llu not run", static_cast<unsigned long long>(of.not_run));
  std::printf("\n");
  print_scores(of);
  for (const auto& [code, count] : of.errors_by_class) {
    std::printf("errored, %s: %llu\n", code.c_str(), static_cast<unsigned long long>(count));
  }
  for (const auto& [field, count] : of.dropped) {
    std::printf("answered without %s, for which the backend has no place: %llu\n", field.c_str(),
                static_cast<unsigned long long>(count));
  }
  if (of.unknown_finish > 0) {
    std::printf("answers whose end the backend does not explain: %llu\n",
                static_cast<unsigned long long>(of.unknown_finish));
  }
  if (of.possibly_paid_twice > 0) {
    std::printf("possibly paid twice: %llu (requests that were out when an earlier run was killed)\n",
                static_cast<unsigned long long>(of.possibly_paid_twice));
  }
  if (of.cost) std::printf("%s\n", run::cost_line(of).c_str());
  if (of.noise_floor) std::printf("%s\n", run::noise_line(*of.noise_floor).c_str());
  if (of.sent > 0) {
    std::printf("%s\n", run::prefix_line(of).c_str());
    std::printf("wall %.2f s, %.2f items/s", of.wall_s,
                of.wall_s > 0 ? static_cast<double>(of.answered - of.reused) / of.wall_s : 0.0);
    if (of.mean_ttft_s) std::printf(", mean TTFT %.2f s", *of.mean_ttft_s);
    std::printf("\n");
  }
  if (of.not_saved > 0) {
    std::printf("answers that had come and are not saved: %llu (they are asked again)\n",
                static_cast<unsigned long long>(of.not_saved));
  }
  if (!written) {
    std::printf("no summary could be written\n");
  } else if (of.interrupted || !of.stopped.empty()) {
    std::printf("wrote %s, %s; no rows, since the run is not whole\n", paths.summary.c_str(),
                paths.store.c_str());
  } else {
    std::printf("wrote %s, %s, %s\n", paths.summary.c_str(), paths.rows.c_str(), paths.store.c_str());
  }
}

}  // namespace evalcore::cli
