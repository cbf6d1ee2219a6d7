#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/map_node.hpp"
#include "engine/scheduler.hpp"

namespace evalcore::engine {

/// Who reads the answer to one request.
struct listener {
  std::shared_ptr<outlet> out;
  std::condition_variable ready;
  std::function<void()> wake;
  bool to_wake = false;  ///< It is among those to be woken.
};

/// Those who read, and who of them is to be woken. Everything is under the owner's mutex but the calls of
/// `wake`.
class listeners {
  using map = std::map<job_id, std::shared_ptr<listener>>;

 public:
  using lock = std::unique_lock<std::mutex>;
  using place = map::node_type;

  [[nodiscard]] static place place_for(std::shared_ptr<listener> one) { return node_of<map>(std::move(one)); }
  /// Room for one more, so that enter() and what follows needs no memory.
  void make_room();
  void enter(place&& one, job_id which) noexcept { engine::enter(all_, std::move(one), which); }
  /// Nobody reads any more, so nobody is to be woken.
  void leave(job_id which, const std::shared_ptr<listener>& one) noexcept;

  /// Wakes whoever has something to read.
  void tell(scheduler& decisions, lock& held) noexcept;
  /// One that could not be woken is to be called again.
  [[nodiscard]] bool again() const noexcept { return !to_wake_.empty(); }

 private:
  void hear(const std::shared_ptr<listener>& one) noexcept;

  map all_;
  std::vector<job_id> news_;
  std::vector<std::shared_ptr<listener>> to_wake_;  ///< Has room for each that listens or listened.
  std::size_t waking_ = 0;                          ///< Taken from there, and being called.
};

}  // namespace evalcore::engine
