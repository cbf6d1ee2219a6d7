#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <evalcore/chat/reply.hpp>
#include <evalcore/run/noise_floor.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// Which of the first `items` of a suite are asked twice: `count` of them by chance, the same for the same
/// suite, as everything before a place in such an order is a fair sample. By position.
[[nodiscard]] std::vector<bool> choose_for_second(const suite& from, std::size_t items, std::size_t count);

/// Puts the two answers to each item together, in whatever order they come, and counts what differs. Keeps
/// some fifty bytes of an answer until the other is there.
class answer_pairs {
 public:
  explicit answer_pairs(noise_floor& into) : into_(into) {}

  /// An answer to the item at this position, the first or the second. One that its checker failed on makes no
  /// pair.
  void came(std::size_t position, const chat::reply& reply, const score::verdict& verdict);

 private:
  struct half {
    std::uint64_t words = 0;  ///< Hash of what the model said.
    double score = 0;
    std::optional<std::uint64_t> cached;
  };
  void pair(const half& one, const half& other);

  noise_floor& into_;
  std::unordered_map<std::size_t, half> waiting_;
};

}  // namespace evalcore::run
