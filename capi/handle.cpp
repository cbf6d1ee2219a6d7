#include "handle.hpp"

#include <pthread.h>

#include <mutex>
#include <unordered_map>

namespace evalcore::capi {
namespace {

struct book {
  std::mutex mutex;
  std::unordered_map<const void*, const void*> type_of;
};

/// Never destroyed: a host may free handles while it ends.
book& live() {
  static book& all = *new book;
  // A child has only the thread that forked: the lock must not stay with another.
  [[maybe_unused]] static const int watched = ::pthread_atfork(
      [] { live().mutex.lock(); }, [] { live().mutex.unlock(); }, [] { live().mutex.unlock(); });
  return all;
}

}  // namespace

void note_live(const void* handle, const void* type) {
  const std::lock_guard held(live().mutex);
  live().type_of.insert_or_assign(handle, type);
}

void note_freed(const void* handle, const void* type) noexcept {
  const std::lock_guard held(live().mutex);
  const auto found = live().type_of.find(handle);
  if (found != live().type_of.end() && found->second == type) live().type_of.erase(found);
}

bool known_live(const void* handle, const void* type) noexcept {
  const std::lock_guard held(live().mutex);
  const auto found = live().type_of.find(handle);
  return found != live().type_of.end() && found->second == type;
}

}  // namespace evalcore::capi
