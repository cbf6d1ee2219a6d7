#include <evalcore/base/processor_time.hpp>

#include <sys/resource.h>

namespace evalcore {
namespace {

double in_seconds(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

double processor_seconds() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

}  // namespace evalcore
