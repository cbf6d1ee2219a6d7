#pragma once

#include <cstdint>

#include <evalcore/pool/pool.hpp>

#include "keys.hpp"
#include "progress_line.hpp"

namespace evalcore::cli {

/// Lets a person at the terminal change how many requests are in flight: + for more, - for fewer.
class concurrency_keys {
 public:
  concurrency_keys(std::uint32_t bound, bool quiet, progress_line& say);

  /// The pool that runs; null: none does.
  void of(pool::pool* running);
  /// To be called now and then.
  void look();

 private:
  keys keys_;
  std::uint32_t bound_;
  bool quiet_;
  progress_line& say_;
  pool::pool* running_ = nullptr;
};

}  // namespace evalcore::cli
