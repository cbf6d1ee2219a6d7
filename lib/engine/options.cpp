#include <evalcore/engine/options.hpp>

#include <cmath>
#include <string>

namespace evalcore::engine {
namespace {

error out_of_range(std::string name, std::string range, std::string value) {
  return fail(errc::invalid_argument, stage::config,
              std::move(name) + " must be " + std::move(range) + ", not " + std::move(value));
}

}  // namespace

result<void> check(const options& how) {
  if (how.max_batch_size < 1) return out_of_range("max_batch_size", "at least 1", "0");
  if (how.max_queue_size < 1) return out_of_range("max_queue_size", "at least 1", "0");
  if (how.batch_wait_ms > 1'000) {
    return out_of_range("batch_wait_ms", "0 to 1000", std::to_string(how.batch_wait_ms));
  }
  if (!(how.queue_timeout_s > 0) || !std::isfinite(how.queue_timeout_s)) {
    return out_of_range("queue_timeout_s", "above 0 and finite", std::to_string(how.queue_timeout_s));
  }
  if (how.output_queue_size < 1) return out_of_range("output_queue_size", "at least 1", "0");
  if (how.max_width == 0U) return out_of_range("max_width", "at least 1", "0");
  return {};
}

}  // namespace evalcore::engine
