// Answers questions about statistics, so that another implementation can be asked the same: JSON lines on
// stdin,
// {"do": "wilson", "seen": 3, …}, one answer a line on stdout, an interval as [low, high] and what is absent
// as null. What is to be given stands in the table below.

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>
#include <evalcore/stats/bootstrap.hpp>
#include <evalcore/stats/mean.hpp>
#include <evalcore/stats/multiplicity.hpp>
#include <evalcore/stats/noninferiority.hpp>
#include <evalcore/stats/paired.hpp>
#include <evalcore/stats/power.hpp>
#include <evalcore/stats/rate.hpp>
#include <evalcore/stats/sequential.hpp>

namespace {

using namespace evalcore;

/// The members of one question; what is missing reads as 0 or empty.
class question {
 public:
  explicit question(const json::value& root) : root_(root) {}

  [[nodiscard]] double real(std::string_view key) const {
    double storage = 0;
    const auto* member = root_.find(key);
    const auto* number = member != nullptr ? member->as_double(storage) : nullptr;
    return number != nullptr ? *number : 0;
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) const {
    return static_cast<std::uint64_t>(real(key));
  }
  [[nodiscard]] std::vector<double> reals(std::string_view key) const {
    std::vector<double> out;
    const auto* member = root_.find(key);
    if (member == nullptr || member->if_array() == nullptr) return out;
    for (const auto& one : *member->if_array()) {
      double storage = 0;
      if (const auto* number = one.as_double(storage)) out.push_back(*number);
    }
    return out;
  }
  [[nodiscard]] std::vector<std::uint64_t> counts(std::string_view key) const {
    std::vector<std::uint64_t> out;
    for (const double one : reals(key)) out.push_back(static_cast<std::uint64_t>(one));
    return out;
  }

 private:
  const json::value& root_;
};

json::value told(const stats::interval& of) { return json::array{of.low, of.high}; }

json::value told(const std::optional<stats::estimate>& of, double confidence) {
  if (!of) return {};
  const auto bounds = stats::t_interval(*of, confidence);
  return json::object{{"value", of->value},
                      {"standard_error", json::or_null(of->standard_error)},
                      {"degrees", of->degrees_of_freedom},
                      {"interval", bounds ? told(*bounds) : json::value()}};
}

json::value told(const stats::noninferiority& of) {
  return json::object{{"difference", of.difference},
                      {"bounds", told(of.bounds)},
                      {"p_non_inferior", of.p_non_inferior},
                      {"p_inferior", of.p_inferior}};
}

json::value told(const std::vector<double>& of) {
  json::array out;
  for (const double one : of) out.emplace_back(one);
  return out;
}

stats::paired_design design_of(const question& of) {
  return {of.real("spread"), of.real("margin"), of.real("difference"), of.real("alpha")};
}

/// strata: lists of values, as {"values": [all], "sizes": [of each]}.
json::value stratified(const question& of) {
  const auto values = of.reals("values");
  std::vector<stats::estimate> strata;
  std::size_t begin = 0;
  for (const auto size : of.counts("sizes")) {
    const std::span<const double> part(values.data() + begin, size);
    if (const auto mean = stats::mean_of(part)) strata.push_back(*mean);
    begin += size;
  }
  return told(stats::stratified_mean(strata), of.real("confidence"));
}

json::value paired(const question& of) {
  const auto first = of.reals("first");
  const auto second = of.reals("second");
  std::vector<stats::pair> pairs;
  for (std::size_t i = 0; i < first.size(); ++i) pairs.push_back({first[i], second[i]});
  return told(stats::paired_difference(pairs, of.counts("clusters")), of.real("confidence"));
}

std::vector<double> replicates(const question& of) {
  const auto above = of.reals("numerators");
  const auto below = of.reals("denominators");
  std::vector<std::array<double, 2>> items;
  for (std::size_t i = 0; i < above.size(); ++i) items.push_back({above[i], below[i]});
  return stats::bootstrap_replicates<2>(items, of.count("seed"), of.count("first"), of.count("resamples"),
                                        stats::ratio_of_sums);
}

json::value bootstrap(const question& of) {
  const auto found = stats::summarize(replicates(of), of.real("confidence"));
  if (!found) return {};
  return json::object{{"interval", told(found->bounds)},
                      {"standard_error", found->standard_error},
                      {"undefined", std::uint64_t{found->undefined}}};
}

json::value looks(const question& of) {
  json::array out;
  for (const auto& one : stats::obrien_fleming_looks(of.reals("fractions"), of.real("alpha"))) {
    out.push_back(json::object{{"spent", one.spent}, {"z", one.z}, {"p", one.p}});
  }
  return out;
}

const std::map<std::string, std::function<json::value(const question&)>>& table() {
  static const std::map<std::string, std::function<json::value(const question&)>> all{
      {"exact",
       [](const question& of) {
         return told(stats::exact_bounds(of.count("seen"), of.count("trials"), of.real("confidence")));
       }},
      {"wilson",
       [](const question& of) {
         return told(stats::wilson_interval(of.count("seen"), of.count("trials"), of.real("confidence")));
       }},
      {"mean",
       [](const question& of) { return told(stats::mean_of(of.reals("values")), of.real("confidence")); }},
      {"clustered",
       [](const question& of) {
         return told(stats::clustered_mean(of.reals("values"), of.counts("clusters")), of.real("confidence"));
       }},
      {"stratified", stratified},
      {"paired", paired},
      {"mcnemar",
       [](const question& of) {
         return json::value(stats::mcnemar_exact(of.count("first"), of.count("second")));
       }},
      {"tango",
       [](const question& of) {
         return told(stats::tango_interval(of.count("gained"), of.count("lost"), of.count("pairs"),
                                           of.real("confidence")));
       }},
      {"tango_statistic",
       [](const question& of) {
         return json::value(stats::tango_statistic(of.count("gained"), of.count("lost"), of.count("pairs"),
                                                   of.real("difference")));
       }},
      {"compare_binary",
       [](const question& of) {
         return told(stats::compare_binary(of.count("gained"), of.count("lost"), of.count("pairs"),
                                           of.real("margin"), of.real("alpha")));
       }},
      {"compare_scores",
       [](const question& of) {
         const auto found =
             stats::compare_scores(of.reals("differences"), of.real("margin"), of.real("alpha"));
         return found ? told(*found) : json::value();
       }},
      {"power",
       [](const question& of) { return json::value(stats::power_of(design_of(of), of.count("n"))); }},
      {"items_needed",
       [](const question& of) {
         return json::or_null(stats::items_needed(design_of(of), of.real("power")));
       }},
      {"detectable_effect",
       [](const question& of) {
         return json::or_null(
             stats::detectable_effect(of.real("spread"), of.count("n"), of.real("power"), of.real("alpha")));
       }},
      {"holm", [](const question& of) { return told(stats::holm(of.reals("p"))); }},
      {"looks", looks},
      {"replicates", [](const question& of) { return told(replicates(of)); }},
      {"bootstrap", bootstrap},
  };
  return all;
}

}  // namespace

int main() {
  std::string line;
  for (long number = 1; std::getline(std::cin, line); ++number) {
    const auto root = json::parse(line);
    const auto* what = root ? root->find("do") : nullptr;
    const auto* name = what != nullptr ? what->if_string() : nullptr;
    const auto found = name != nullptr ? table().find(*name) : table().end();
    if (found == table().end()) {
      std::fprintf(stderr, "statistics: line %ld asks for nothing that is known\n", number);
      return 2;
    }
    std::puts(json::to_text(found->second(question(*root))).c_str());
    std::fflush(stdout);
  }
  return 0;
}
