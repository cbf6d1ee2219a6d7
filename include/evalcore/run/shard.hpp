#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// One part of a suite that is run in several places.
struct shard {
  std::uint32_t index = 1;  ///< From 1 to `of`.
  std::uint32_t of = 1;

  /// "1/4".
  [[nodiscard]] std::string text() const { return std::to_string(index) + "/" + std::to_string(of); }
};

/// The positions of a shard's items among the first `count` of the suite, ascending. They follow from the
/// suite, `count` and the number of shards alone, so that every machine deals alike. Every item is in
/// exactly one shard. Items that share a prefix stay together, unless they are much more than a shard's even
/// part of the work (see prefix::dealer): bytes of prompts, those of a shared prefix counted once. Errors:
/// bad_suite, storage.
[[nodiscard]] result<std::vector<std::size_t>> items_of(const shard& which, const suite& from,
                                                        std::size_t count);

}  // namespace evalcore::run
