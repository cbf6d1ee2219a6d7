#include "pool_options.hpp"

#include <cmath>
#include <string>

#include "checks.hpp"

namespace evalcore::cli {
namespace {

constexpr std::int64_t most_in_flight = 10'000;
constexpr std::int64_t most_count = 1'000'000'000'000;
constexpr double most_seconds = 1e7;

void add_seconds(CLI::App& group, const std::string& option, duration& into, const std::string& what) {
  group
      .add_option_function<double>(
          option, [&into](double seconds) { into = duration(std::llround(seconds * 1e9)); }, what)
      ->check(real_number(0, most_seconds))
      ->type_name("SECONDS");
}

template <class Number>
CLI::Option* add_count(CLI::App& group, const std::string& option, Number& into, std::int64_t least,
                       const std::string& what) {
  return group.add_option(option, into, what)->check(whole_number(least, most_count));
}

}  // namespace

void add_concurrency(CLI::App& command, pool::options& into, bool& named) {
  command
      .add_option_function<std::string>(
          "-c,--concurrency",
          [&into, &named](const std::string& text) {
            named = true;
            into.adaptive = text == "auto";
            if (!into.adaptive) into.max_in_flight = static_cast<std::uint32_t>(std::stoul(text));
          },
          "Requests in flight at most, at each endpoint; auto: as many as serve best, up to "
          "--max-concurrency [16]")
      ->check([](const std::string& text) {
        return text == "auto" ? std::string() : whole_number(1, most_in_flight)(text);
      })
      ->type_name("N|auto");
  command.add_option("--max-concurrency", into.highest_tried, "The highest that --concurrency auto tries")
      ->check(whole_number(1, most_in_flight))
      ->capture_default_str();
}

void add_pool_options(CLI::App& command, pool::options& into) {
  auto* retries = command.add_option_group("failed requests");
  retries->add_option("--retries", into.retry.retries, "How often a request is sent again, at most")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  add_seconds(*retries, "--max-wait", into.retry.max_wait,
              "The longest wait that a server may ask for (Retry-After) [120]");
  add_seconds(*retries, "--max-outage", into.breaker.max_outage,
              "How long a server may be away before the run ends; 0: for ever [600]");
  add_count(*retries, "--max-errors", into.max_errors, 0,
            "Send nothing more when more items than this have failed for good [no bound]");
  auto* pace = command.add_option_group("pace");
  add_count(*pace, "--requests-per-minute", into.rate.requests_per_minute, 1,
            "At most, at each endpoint; what a server says of its own limits is obeyed besides");
  add_count(*pace, "--tokens-per-minute", into.rate.tokens_per_minute, 1,
            "Of prompts and answers together, at each endpoint");
  pace->add_option(
          "--rate", into.dispatch_rate,
          "Items that begin in a second, whatever became of those before (open loop; up to 1,024 are then in "
          "flight unless --concurrency says otherwise)")
      ->check(real_number(1e-6, 1e6))
      ->type_name("R");
  auto* end = command.add_option_group("time");
  add_seconds(*end, "--item-timeout", into.total_deadline, "For one item, all its attempts together [none]");
  add_seconds(*end, "--time-limit", into.time_limit, "After it nothing more is sent [none]");
  end->add_option_function<double>(
         "--max-hours", [&into](double hours) { into.time_limit = duration(std::llround(hours * 3600e9)); },
         "The same in hours")
      ->check(real_number(0, most_seconds / 3600))
      ->excludes("--time-limit")
      ->type_name("HOURS");
}

}  // namespace evalcore::cli
