#include <cmath>
#include <map>
#include <utility>

#include <evalcore/run/compat_gate.hpp>

#include "run/json_present.hpp"

namespace evalcore::run {
namespace {

bool read_text(const json::value* from, std::string& into) {
  const auto* text = from != nullptr ? from->if_string() : nullptr;
  if (text != nullptr) into = *text;
  return text != nullptr;
}

bool is_whole(const json::value& number) {
  double storage = 0;
  const auto* found = number.as_double(storage);
  return found != nullptr && *found == std::floor(*found);
}

std::optional<gate_row> row_from(const json::value& root) {
  gate_row out;
  double storage = 0;
  const auto* score = present(root, "score");
  const auto* number = score != nullptr ? score->as_double(storage) : nullptr;
  if (number == nullptr || !read_text(present(root, "task"), out.task) ||
      !read_text(present(root, "metric"), out.metric))
    return std::nullopt;
  out.score = *number;
  if (const auto* subtask = present(root, "subtask")) {
    if (!read_text(subtask, out.subtask.emplace())) return std::nullopt;
  }
  // Of no use here, but a line in which they are of another kind is no row.
  if (const auto* examples = present(root, "n_examples"); examples != nullptr && !is_whole(*examples))
    return std::nullopt;
  if (const auto* flag = present(root, "baseline"); flag != nullptr && flag->if_bool() == nullptr)
    return std::nullopt;
  return out;
}

}  // namespace

pass_stats stats_of(std::vector<double> trial_scores) {
  pass_stats out;
  out.trial_scores = std::move(trial_scores);
  if (out.trial_scores.empty()) return out;
  const auto n = static_cast<double>(out.trial_scores.size());
  for (const double one : out.trial_scores) out.mean += one;
  out.mean /= n;
  if (n > 1) {
    double squares = 0;
    for (const double one : out.trial_scores) squares += (one - out.mean) * (one - out.mean);
    out.stdev = std::sqrt(squares / (n - 1));
  }
  out.standard_error = out.stdev / std::sqrt(n);
  constexpr double quantile = 1.96;
  out.ci95_low = out.mean - quantile * out.standard_error;
  out.ci95_high = out.mean + quantile * out.standard_error;
  return out;
}

std::vector<gate_row> read_gate_rows(std::string_view lines) {
  std::vector<gate_row> out;
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    const auto root = json::parse(line);
    if (!root) continue;
    if (auto one = row_from(*root)) out.push_back(*std::move(one));
  }
  return out;
}

std::vector<gate_row> group_passes(const std::vector<gate_row>& rows) {
  std::map<std::string, std::size_t> places;
  std::vector<gate_row> out;
  std::vector<std::vector<double>> trials;
  for (const auto& one : rows) {
    const auto [place, fresh] = places.try_emplace(one.key(), out.size());
    if (fresh) {
      out.push_back(one);
      trials.emplace_back();
    }
    trials[place->second].push_back(one.score);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (trials[i].size() < 2) continue;
    out[i].stats = stats_of(std::move(trials[i]));
    out[i].score = out[i].stats->mean;
  }
  return out;
}

}  // namespace evalcore::run
