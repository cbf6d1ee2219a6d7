#pragma once

#include <cstdint>
#include <optional>

#include "prefix/common_units.hpp"
#include "prefix/number_set.hpp"

namespace evalcore::prefix {

/// What a backend with one common cache holds, or will: the prompts of the requests sent so far.
class seen {
 public:
  explicit seen(const plan& order)
      : plan_(order), common_(order), computed_(order.order.size()), coming_(order.order.size()) {}

  [[nodiscard]] const common_units& common() const noexcept { return common_; }
  void sent(std::uint32_t item) { coming_.insert(common_.rank(item)); }
  void computed(std::uint32_t item);
  void failed(std::uint32_t item);

  /// A prompt that has the most in common with the one asked for.
  struct nearest {
    std::uint32_t units = 0;
    std::uint32_t item = 0;  ///< Whose it is; only meaningful where `units` is not 0.
  };
  /// Of those that were computed, or are being computed.
  [[nodiscard]] nearest computed_near(std::uint32_t item) const { return near(computed_, item); }
  [[nodiscard]] nearest coming_near(std::uint32_t item) const { return near(coming_, item); }

 private:
  [[nodiscard]] nearest near(const number_set& among, std::uint32_t item) const;

  const plan& plan_;
  common_units common_;
  // By rank: in a depth-first order nothing has more in common with a prompt than its nearest neighbours.
  number_set computed_;
  number_set coming_;
};

}  // namespace evalcore::prefix
