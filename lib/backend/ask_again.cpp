#include <evalcore/backend/ask_again.hpp>

#include <condition_variable>
#include <mutex>

#include <evalcore/base/result.hpp>

namespace evalcore::backend {

std::optional<error> rest(duration span, const std::stop_token& stop) {
  std::mutex guarded;
  std::condition_variable_any changed;
  std::unique_lock lock(guarded);
  changed.wait_for(lock, stop, span, [] { return false; });
  if (!stop.stop_requested()) return std::nullopt;
  return fail(errc::cancelled, stage::start, "interrupted while waiting to ask the server again");
}

}  // namespace evalcore::backend
