// bench_faults: F01 to F24 (see faults/cases.cpp), each a hundred times, met by the public pool over real
// sockets: OpenAI's and Anthropic's API, streamed and not, with deadlines and delays made short. Prints a
// table on standard error and the figures as JSON on standard output. Needs nft, tc and ip, and root or user
// namespaces.
//
//   bench_faults [RUNS [FAULT]]     100 runs of all of them; what differs is printed
//
// runs      of all faults together
// skipped   runs whose fault this machine cannot make
// hangs     runs in which something took more than a tenth longer than its deadline, beyond what threads that
//           only slept were late meanwhile
// silent    runs in which a wrong or partial answer was taken for an answer
// untyped   runs in which a failure had no kind, or said nothing
// unkept    runs in which anything else was not as promised: attempts, delays, kinds, memory
// outage_requests_per_item          attempts for each item over an outage of 10 s with 64 in flight, the
//                                   larger of two: nobody listens; every request is answered with 503
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

#include "faults/children.hpp"
#include "faults/long_outage.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

struct tally {
  std::int64_t runs = 0;
  std::int64_t skipped = 0;
  std::int64_t hangs = 0;
  std::int64_t silent = 0;
  std::int64_t untyped = 0;
  std::int64_t unkept = 0;
  duration longest{};

  void add(const faults::run& one) {
    runs += 1;
    skipped += one.found.skipped ? 1 : 0;
    hangs += one.found.hang ? 1 : 0;
    silent += one.found.silent ? 1 : 0;
    untyped += one.found.untyped ? 1 : 0;
    unkept += one.found.unkept.empty() ? 0 : 1;
    longest = std::max(longest, one.took);
  }
};

void print(std::string_view name, std::string_view what, const tally& of) {
  std::fprintf(stderr, "%-4s %-28s %6ld %8ld %6ld %7ld %8ld %7ld %9.2f\n", std::string(name).c_str(),
               std::string(what).c_str(), of.runs, of.skipped, of.hangs, of.silent, of.untyped, of.unkept,
               seconds(of.longest));
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t runs_each = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 100;
  const std::string_view only = count > 2 ? arguments[2] : "";
  // They mostly wait; more at once would be late for want of processors.
  constexpr std::size_t at_once = 16;

  faults::prepare_floods();
  std::vector<faults::run> all;
  for (const auto& one : faults::faults()) {
    if (!only.empty() && only != one.name) continue;
    const auto runs = faults::runs_of(one, runs_each);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  faults::run_in_children(all, at_once, 20s);

  std::fprintf(stderr, "%-33s %6s %8s %6s %7s %8s %7s %9s\n", "fault", "runs", "skipped", "hangs", "silent",
               "untyped", "unkept", "longest s");
  tally total;
  for (const auto& one : faults::faults()) {
    tally of;
    for (const auto& run : all) {
      if (run.which == &one) of.add(run);
    }
    if (of.runs > 0) print(one.name, one.what, of);
  }
  for (const auto& run : all) {
    total.add(run);
    if (run.found.clean()) continue;
    std::fprintf(stderr, "%s:%s%s%s%s %s\n", faults::name_of(run).c_str(), run.found.hang ? " hang" : "",
                 run.found.silent ? " silent" : "", run.found.untyped ? " untyped" : "",
                 run.found.skipped ? " skipped" : "", run.found.unkept.c_str());
  }
  print("", "all", total);

  json::writer out;
  out.begin_object();
  out.key("runs").number(total.runs).key("skipped").number(total.skipped).key("hangs").number(total.hangs);
  out.key("silent").number(total.silent).key("untyped").number(total.untyped);
  out.key("unkept").number(total.unkept);
  if (only.empty()) out.key("outage_requests_per_item").number(faults::requests_per_item_over_outage());
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
