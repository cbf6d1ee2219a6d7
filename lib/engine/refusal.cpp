#include <evalcore/engine/refusal.hpp>

#include <array>
#include <utility>

namespace evalcore::engine {
namespace {

struct row {
  std::string_view name;
  int http_status;
  errc code;
};

/// In the order of the enumerators.
constexpr std::array table{
    row{"queue_full", 503, errc::overloaded},
    row{"queue_timeout", 504, errc::timeout},
    row{"cancelled", 409, errc::cancelled},
    row{"invalid_request", 400, errc::invalid_request},
    row{"invalid_controls", 400, errc::invalid_request},
    row{"no_drafter", 400, errc::unsupported},
    row{"missing_lease", 409, errc::invalid_request},
    row{"owner_busy", 409, errc::busy},
    row{"runtime_closed", 409, errc::closed},
    row{"stream_backpressure", 429, errc::cancelled},
    row{"backend_error", 500, errc::backend_fault},
};

const row& of(refusal why) noexcept { return table.at(static_cast<std::size_t>(why)); }

}  // namespace

std::string_view name(refusal why) noexcept { return of(why).name; }
int http_status(refusal why) noexcept { return of(why).http_status; }

error refused(refusal why, std::string message) {
  error failure;
  failure.code = of(why).code;
  failure.at = stage::body;
  failure.message = std::move(message);
  failure.http_status = of(why).http_status;
  failure.should_retry = !request_local(why) || why == refusal::queue_full || why == refusal::queue_timeout;
  failure.detail = of(why).name;
  return failure;
}

}  // namespace evalcore::engine
