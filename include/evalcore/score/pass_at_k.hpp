#pragma once

#include <cstdint>
#include <optional>

namespace evalcore::score {

/// The chance that at least one of `k` answers is right, estimated from `n` of which `right` were (Chen et
/// al., arXiv:2107.03374): 1 - C(n - right, k) / C(n, k), without bias. Absent unless
/// 1 <= k <= n: fewer than k answers say nothing about k of them. right <= n.
[[nodiscard]] constexpr std::optional<double> pass_at_k(std::uint64_t n, std::uint64_t right,
                                                        std::uint64_t k) noexcept {
  if (k < 1 || k > n) return std::nullopt;
  if (n - right < k) return 1;
  double none = 1;
  for (std::uint64_t i = n - right + 1; i <= n; ++i)
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - none;
}

/// The chance that all of `k` answers are right, estimated from `n` of which `right` were (Yao et al.,
/// arXiv:2406.12045): C(right, k) / C(n, k), without bias. Absent as above. Whether
/// an answer that could not be judged is one of the n, and not right, or none of them is the caller's choice.
[[nodiscard]] constexpr std::optional<double> pass_hat_k(std::uint64_t n, std::uint64_t right,
                                                         std::uint64_t k) noexcept {
  if (k < 1 || k > n) return std::nullopt;
  double all = 1;
  for (std::uint64_t i = 0; i < k; ++i) {
    if (right <= i) return 0;
    all *= static_cast<double>(right - i) / static_cast<double>(n - i);
  }
  return all;
}

}  // namespace evalcore::score
