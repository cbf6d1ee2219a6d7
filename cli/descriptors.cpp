#include "descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace evalcore::cli {
namespace {

/// For the store, the suite, a child's pipes and what the host had open.
constexpr rlim_t other_files = 64;

}  // namespace

std::uint32_t sockets_for(std::uint32_t wanted, std::size_t endpoints) {
  rlimit bound{};
  if (getrlimit(RLIMIT_NOFILE, &bound) != 0) return wanted;
  const rlim_t needed = rlim_t{wanted} * endpoints + other_files;
  if (bound.rlim_cur < needed) {
    rlimit raised = bound;
    raised.rlim_cur = bound.rlim_max == RLIM_INFINITY ? needed : std::min(needed, bound.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) bound = raised;
  }
  if (bound.rlim_cur >= needed) return wanted;
  return bound.rlim_cur > other_files + 1
             ? static_cast<std::uint32_t>((bound.rlim_cur - other_files) / endpoints)
             : 1;
}

}  // namespace evalcore::cli
