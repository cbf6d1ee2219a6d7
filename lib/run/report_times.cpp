#include "run/report_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace evalcore::run {
namespace {

constexpr std::size_t steps = 120;
constexpr double longest_pause_s = 60;

/// Three decimals: a page needs no more, and is shorter.
double rounded(double number) { return std::round(number * 1000) / 1000; }

json::value figures_of(std::vector<double> all) {
  if (all.empty()) return {};
  std::ranges::sort(all);
  double sum = 0;
  for (const auto one : all) sum += one;
  json::object out{{"count", std::uint64_t{all.size()}}, {"mean", sum / static_cast<double>(all.size())}};
  for (const auto& [name, q] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p95", 0.95),
                                std::pair("p99", 0.99), std::pair("max", 1.0)}) {
    out.emplace_back(name, quantile(all, q));
  }
  json::array curve;
  for (int percent = 0; percent <= 100; ++percent) curve.emplace_back(quantile(all, percent / 100.0));
  out.emplace_back("curve", std::move(curve));
  return out;
}

/// Seconds of the clock that ran while requests were out.
class busy_clock {
 public:
  /// `requests` by when they were sent.
  explicit busy_clock(std::span<const request_times> requests) {
    for (const auto& one : requests) {
      const auto sent = static_cast<double>(one.sent_unix_ms) / 1000;
      const auto end = sent + seconds(one.total);
      if (!spells_.empty() && sent <= spells_.back().end + longest_pause_s) {
        spells_.back().end = std::max(spells_.back().end, end);
      } else {
        const auto shown = spells_.empty() ? 0.0 : shown_at_end();
        spells_.push_back({sent, end, shown});
      }
    }
  }

  [[nodiscard]] double shown_at_end() const {
    return spells_.back().shown + (spells_.back().end - spells_.back().begin);
  }
  /// Of a time in a pause: where it is left out.
  [[nodiscard]] double at(double unix_s) const {
    auto next = std::ranges::upper_bound(spells_, unix_s, {}, &spell::begin);
    if (next == spells_.begin()) return 0;
    const auto& in = *std::prev(next);
    return in.shown + std::min(unix_s, in.end) - in.begin;
  }

 private:
  struct spell {
    double begin;
    double end;
    double shown;  ///< At its begin.
  };
  std::vector<spell> spells_;
};

struct shares {
  std::uint64_t prompt = 0;
  std::uint64_t cached = 0;

  void add(const std::optional<std::uint64_t>& part, const std::optional<std::uint64_t>& of) {
    if (!part || !of) return;
    prompt += *of;
    cached += *part;
  }
  [[nodiscard]] json::value share() const {
    if (prompt == 0) return {};
    return rounded(static_cast<double>(cached) / static_cast<double>(prompt));
  }
};

class timeline {
 public:
  timeline(const busy_clock& clock) : clock_(clock), step_(clock.shown_at_end() / steps) {}  // NOLINT

  void add(const request_times& one) {
    const auto sent_unix_s = static_cast<double>(one.sent_unix_ms) / 1000;
    const auto sent = clock_.at(sent_unix_s);
    const auto end = clock_.at(sent_unix_s + seconds(one.total));
    spread(in_flight_, sent, end, (end - sent) / step_);
    const auto first = sent + seconds(std::min(one.first_token.value_or(duration::zero()), one.total));
    if (one.completion_tokens) {
      spread(tokens_, first, end, static_cast<double>(*one.completion_tokens) / step_);
      counted_ = true;
    }
    auto& predicted = predicted_[index(sent)];
    auto& reported = reported_[index(sent)];
    predicted.add(one.predicted_cached_tokens, one.prompt_tokens);
    reported.add(one.cached_tokens, one.prompt_tokens);
  }

  [[nodiscard]] json::object figures() const {
    const auto list = [](const auto& of, const auto& value_of) {
      json::array out;
      for (const auto& one : of) out.push_back(value_of(one));
      return json::value(std::move(out));
    };
    const auto number = [](double of) { return json::value(rounded(of)); };
    const auto share = [](const shares& of) { return of.share(); };
    return {{"seconds", rounded(clock_.shown_at_end())},
            {"step_s", step_},
            {"in_flight", list(in_flight_, number)},
            {"tokens_per_s", counted_ ? list(tokens_, number) : json::value()},
            {"predicted_share", list(predicted_, share)},
            {"reported_share", list(reported_, share)}};
  }

 private:
  [[nodiscard]] std::size_t index(double at) const {
    return std::min(steps - 1, static_cast<std::size_t>(std::max(0.0, at / step_)));
  }
  /// Deals `amount` to the steps from `begin` to `end`, evenly.
  void spread(std::array<double, steps>& into, double begin, double end, double amount) const {
    const auto first = index(begin);
    const auto last = index(end);
    if (first == last || end <= begin) {
      into[first] += amount;
      return;
    }
    for (auto i = first; i <= last; ++i) {
      const auto from = std::max(begin, static_cast<double>(i) * step_);
      const auto until = i == last ? end : static_cast<double>(i + 1) * step_;
      into[i] += amount * std::max(0.0, until - from) / (end - begin);
    }
  }

  const busy_clock& clock_;
  double step_;
  std::array<double, steps> in_flight_{};
  std::array<double, steps> tokens_{};
  std::array<shares, steps> predicted_{};
  std::array<shares, steps> reported_{};
  bool counted_ = false;
};

const json::array& list_in(const json::value* held) {
  static const json::array none;
  const auto* list = held != nullptr ? held->if_array() : nullptr;
  return list != nullptr ? *list : none;
}

/// Each endpoint's limit over all runs of the store, an endpoint by its place.
json::value limits_over_time(const busy_clock& clock, std::span<const stored_limits> of) {
  std::vector<json::array> endpoints;
  for (const auto& run : of) {
    const auto root = json::parse(run.limits);
    if (!root) continue;
    std::size_t place = 0;
    for (const auto& one : list_in(&*root)) {
      endpoints.resize(std::max(endpoints.size(), ++place));
      for (const auto& change : list_in(one.find("limit_history"))) {
        double storage = 0;
        const auto* after = change.find("after_s");
        const auto* seconds_after = after != nullptr ? after->as_double(storage) : nullptr;
        if (seconds_after == nullptr) continue;
        const auto unix_s = static_cast<double>(run.started_unix_ms) / 1000 + *seconds_after;
        json::object told{{"s", rounded(clock.at(unix_s))}};
        for (const auto* key : {"limit", "why", "tokens"}) {
          const auto* value = change.find(key);
          told.emplace_back(key, value != nullptr ? *value : json::value());
        }
        endpoints[place - 1].emplace_back(std::move(told));
      }
    }
  }
  json::array out;
  for (auto& one : endpoints) out.emplace_back(std::move(one));
  return out;
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  const auto place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

json::value latency_json(std::span<const request_times> of) {
  std::vector<double> total;
  std::vector<double> first;
  for (const auto& one : of) {
    total.push_back(seconds(one.total));
    if (one.first_token) first.push_back(seconds(*one.first_token));
  }
  return json::object{{"replies", std::uint64_t{of.size()}},
                      {"total_s", figures_of(std::move(total))},
                      {"first_token_s", figures_of(std::move(first))}};
}

json::value over_time_json(std::vector<request_times> of, std::span<const stored_limits> limits) {
  if (of.empty()) return {};
  std::ranges::stable_sort(of, {}, &request_times::sent_unix_ms);
  const busy_clock clock(of);
  if (clock.shown_at_end() <= 0) return {};
  timeline line(clock);
  for (const auto& one : of) line.add(one);
  auto out = line.figures();
  out.emplace_back("limits", limits_over_time(clock, limits));
  return out;
}

}  // namespace evalcore::run
