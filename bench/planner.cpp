// bench_planner: the prefix planner and its dispatcher against simulated servers on a virtual clock. Prints a
// table on standard error and the figures as JSON on standard output.
//
// share_of_optimum       five interleaved suites, a radix cache without room for all their prefixes, 16 in
//                        flight: tokens found in the cache, divided by those that any order could find there
//                        (tokens of all prompts without the distinct ones of their tree)
// factor_vs_suite_order  the same tokens, divided by those found in the suite's order
// plan_cpu_s             processor seconds to plan 100,000 requests of 4 KB, of five suites, as bytes;
// reading
//                        them is not counted
// worst_loss             over all servers and suites: makespan divided by the shorter of those of the suite's
//                        order and a random one, less 1
// worst_over_bound       over the same: makespan divided by what no order can undercut
// mean_gain              makespan of the suite's order divided by that of the plan, geometric mean
// *_case                 the server and suite that gave the figure
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

void radix_cache(json::writer& out) {
  const auto suite = bench::five_interleaved();
  const auto server = bench::small_radix_cache();
  const bench::paged_suite pages(suite, server.page);
  std::uint64_t tokens = 0;
  for (const auto& prompt : suite.prompts) tokens += prompt.size();
  const auto last = suite.prompts.size();  // Of each prompt one token is computed whatever is cached.
  const auto optimum = static_cast<double>(tokens - last - pages.distinct);
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

void makespans(json::writer& out) {
  std::fprintf(stderr, "%-18s %-21s %8s %8s %8s %8s  %6s\n", "server", "suite", "bound s", "suite s",
               "random s", "planned s", "loss");
  worst loss;
  worst over_bound;
  double logs = 0;
  int cases = 0;
  for (const auto& suite : bench::token_suites()) {
    for (const auto& server : bench::server_kinds()) {
      const bench::paged_suite pages(suite, server.page);
      const auto bound = bench::least_makespan(server, suite, pages);
      const auto plain = bench::run_in_order(server, suite, pages, suite_order(suite)).makespan_s;
      const auto random = bench::run_in_order(server, suite, pages, random_order(suite)).makespan_s;
      const auto planned = bench::run_planned(server, suite, pages).makespan_s;
      const auto lost = planned / std::min(plain, random) - 1;
      const auto name = server.name + ", " + suite.name;
      std::fprintf(stderr, "%-18s %-21s %8.1f %8.1f %8.1f %8.1f  %+6.3f\n", server.name.c_str(),
                   suite.name.c_str(), bound, plain, random, planned, lost);
      loss.see(lost, name);
      over_bound.see(planned / bound, name);
      logs += std::log(plain / planned);
      ++cases;
    }
  }
  loss.write(out, "worst_loss");
  over_bound.write(out, "worst_over_bound");
  out.key("mean_gain").number(std::exp(logs / cases));
}

}  // namespace

int main() {
  json::writer out;
  out.begin_object();
  radix_cache(out);
  plan_time(out);
  makespans(out);
  out.end_object();
  std::printf("%s\n", out.text().c_str());
  return 0;
}
