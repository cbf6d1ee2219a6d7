#include <evalcore/run/noise_floor.hpp>

#include <array>
#include <cmath>
#include <cstdio>

#include <evalcore/stats/rate.hpp>

namespace evalcore::run {
namespace {

std::string percent(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * rate);
  return text.data();
}

std::string points(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4f", rate);
  return text.data();
}

std::string interval(std::uint64_t seen, std::uint64_t trials) {
  const auto bounds = stats::exact_bounds(seen, trials);
  return " (" + percent(static_cast<double>(seen) / static_cast<double>(trials)) + ", 95 % interval " +
         percent(bounds.low) + " to " + percent(bounds.high) + ")";
}

std::optional<double> per_item(double square, std::uint64_t items) {
  if (items == 0) return std::nullopt;
  return std::sqrt(square / static_cast<double>(items));
}

}  // namespace

std::optional<double> noise_floor::difference_stderr() const noexcept {
  if (pairs == 0) return std::nullopt;
  return per_item(squares / static_cast<double>(pairs), run_items);
}

std::optional<double> noise_floor::difference_stderr_at_most() const {
  return per_item(stats::exact_bounds(flips, pairs).high, run_items);
}

std::string noise_line(const noise_floor& of) {
  auto line = "noise floor: " + std::to_string(of.pairs) + " of " + std::to_string(of.items) +
              " items answered twice";
  if (of.pairs == 0) return line;
  line += ", " + std::to_string(of.changed) + " changed" + interval(of.changed, of.pairs) + ", " +
          std::to_string(of.flips) + " scores flipped" + interval(of.flips, of.pairs);
  if (const auto error = of.difference_stderr(), most = of.difference_stderr_at_most(); error && most) {
    line += "; two runs differ with a standard error of " + points(*error) + ", at most " + points(*most);
  }
  if (!of.cache_differed) return line + "; what the cache does to answers is unknown, as it is not reported";
  if (*of.cache_differed == 0)
    return line + "; no pair differed in what the cache held, so its part is not seen";
  return line + "; the cache held different parts of " + std::to_string(*of.cache_differed) +
         " prompts, and of these " + std::to_string(of.changed_where_cache_differed) + " answers changed";
}

}  // namespace evalcore::run
