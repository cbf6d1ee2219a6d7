// bench_planner: the prefix planner and its dispatcher against simulated servers on a virtual clock. Prints a
// table on standard error and the figures as JSON on standard output.
//
// share_of_optimum       five interleaved suites, a radix cache without room for all their prefixes, 16 in
//                        flight: tokens found in the cache, divided by those that any order could find there
//                        (tokens of all prompts without the distinct ones of their tree)
// factor_vs_suite_order  the same tokens, divided by those found in the suite's order
// plan_cpu_s             processor seconds to plan 100,000 requests of 4 KB, of five suites, as bytes;
//                        reading them is not counted
// worst_loss             over all servers and suites: makespan divided by the shorter of those of the suite's
//                        order and a random one, less 1
// worst_loss_seen        the same over those servers and suites on which the planner's constants were
//                        first chosen
// worst_missed           over servers with one cache of pages and suites that share a twentieth of their
//                        tokens or more: of what any order could find there, the part that was not found
// worst_over_bound       over all: makespan divided by what no order can undercut
// mean_gain              makespan of the suite's order divided by that of the plan, geometric mean
// *_case                 the server and suite that gave the figure
//
// An argument bounds the last five to servers and suites in whose names, "SERVER, SUITE", it stands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>

#include "planner/race.hpp"

using namespace evalcore;

namespace {

std::vector<std::uint32_t> suite_order(const bench::token_suite& suite) {
  std::vector<std::uint32_t> order(suite.prompts.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::uint32_t> random_order(const bench::token_suite& suite) {
  auto order = suite_order(suite);
  std::mt19937 random(5);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  return order;
}

struct worst {
  double value = -1;
  std::string at;

  void see(double seen, const std::string& where) {
    if (seen > value) *this = {seen, where};
  }
  void write(json::writer& out, const std::string& key) const {
    out.key(key).number(value);
    out.key(key + "_case").string(at);
  }
};

/// Tokens of all prompts without the distinct ones of their tree: no order finds more.
double most_to_find(const bench::paged_suite& pages, const bench::server_kind& server) {
  std::uint64_t found = 0;
  for (const auto& of_one : pages.pages) found += of_one.size();
  return static_cast<double>(found - pages.distinct) * server.page;
}

void radix_cache(json::writer& out) {
  const auto suite = bench::five_interleaved();
  const auto server = bench::small_radix_cache();
  const bench::paged_suite pages(suite, server.page);
  const auto optimum = most_to_find(pages, server);
  const auto planned = static_cast<double>(bench::run_planned(server, suite, pages).cached);
  const auto plain =
      static_cast<double>(bench::run_in_order(server, suite, pages, suite_order(suite)).cached);
  std::fprintf(stderr, "%s: %.0f of %.0f tokens found, %.0f in the suite's order\n\n", server.name.c_str(),
               planned, optimum, plain);
  out.key("share_of_optimum").number(planned / optimum);
  out.key("factor_vs_suite_order").number(planned / plain);
}

void plan_time(json::writer& out) {
  constexpr std::size_t requests = 100'000;
  constexpr std::size_t length = 4'096;
  std::mt19937 random(3);
  const auto text = [&](std::size_t bytes) {
    std::string written(bytes, ' ');
    for (auto& c : written) c = static_cast<char>('a' + random() % 26);
    return written;
  };
  std::vector<std::string> shared;
  for (const std::size_t bytes : {900U, 1'800U, 2'700U, 3'200U, 3'700U}) shared.push_back(text(bytes));
  std::vector<std::string> prompts;
  for (std::size_t at = 0; at < requests; ++at) {
    const auto& prefix = shared[at % shared.size()];
    prompts.push_back(prefix + text(length - prefix.size()));
  }
  const auto begun = std::clock();
  prefix::planner making(prefix::planner::units::bytes, {},
                         [&](std::uint32_t at) { return std::string_view(prompts[at]); });
  for (const auto& prompt : prompts) making.add(prompt);
  const prefix::dispatcher ready(making.finish(), {});
  out.key("plan_cpu_s").number(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
}

struct figures {
  worst loss;
  worst over_bound;
  worst missed;
  double logs = 0;
  int cases = 0;
};

void race(const bench::token_suite& suite, const bench::server_kind& server, std::string_view only,
          figures& into) {
  const auto name = server.name + ", " + suite.name;
  if (name.find(only) == std::string::npos) return;
  const bench::paged_suite pages(suite, server.page);
  const auto bound = bench::least_makespan(server, suite, pages);
  const auto plain = bench::run_in_order(server, suite, pages, suite_order(suite));
  const auto random = bench::run_in_order(server, suite, pages, random_order(suite));
  const auto planned = bench::run_planned(server, suite, pages);
  const auto lost = planned.makespan_s / std::min(plain.makespan_s, random.makespan_s) - 1;
  const auto optimum = std::max(most_to_find(pages, server), 1.0);
  std::fprintf(stderr, "%-22s %-20s %8.1f %8.1f %8.1f %8.1f  %+6.3f  %5.3f %5.3f %5.3f\n",
               server.name.c_str(), suite.name.c_str(), bound, plain.makespan_s, random.makespan_s,
               planned.makespan_s, lost, static_cast<double>(plain.cached) / optimum,
               static_cast<double>(random.cached) / optimum, static_cast<double>(planned.cached) / optimum);
  into.loss.see(lost, name);
  into.over_bound.see(planned.makespan_s / bound, name);
  const bool pages_kept = server.slots == 0 && server.entries == 0 && server.least == 0;
  double tokens = 0;
  for (const auto& prompt : suite.prompts) tokens += static_cast<double>(prompt.size());
  if (pages_kept && optimum > tokens / 20) {
    into.missed.see(1 - static_cast<double>(planned.cached) / optimum, name);
  }
  into.logs += std::log(plain.makespan_s / planned.makespan_s);
  ++into.cases;
}

void makespans(json::writer& out, std::string_view only) {
  std::fprintf(stderr, "%-22s %-20s %8s %8s %8s %8s  %6s  %s\n", "server", "suite", "bound s", "suite s",
               "random s", "planned s", "loss", "found, as parts of what any order could find");
  figures seen;
  figures all;
  const auto servers = bench::server_kinds();
  const auto unseen_servers = bench::unseen_server_kinds();
  for (const auto& suite : bench::token_suites()) {
    for (const auto& server : servers) race(suite, server, only, seen);
    for (const auto& server : unseen_servers) race(suite, server, only, all);
  }
  for (const auto& suite : bench::unseen_token_suites()) {
    for (const auto& server : servers) race(suite, server, only, all);
    for (const auto& server : unseen_servers) race(suite, server, only, all);
  }
  all.loss.see(seen.loss.value, seen.loss.at);
  all.over_bound.see(seen.over_bound.value, seen.over_bound.at);
  all.missed.see(seen.missed.value, seen.missed.at);
  all.loss.write(out, "worst_loss");
  seen.loss.write(out, "worst_loss_seen");
  all.missed.write(out, "worst_missed");
  all.over_bound.write(out, "worst_over_bound");
  out.key("mean_gain").number(std::exp((seen.logs + all.logs) / (seen.cases + all.cases)));
}

}  // namespace

int main(int count, char** words) {
  json::writer out;
  out.begin_object();
  radix_cache(out);
  plan_time(out);
  makespans(out, count == 1 ? "" : words[1]);
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
