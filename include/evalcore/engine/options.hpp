#pragma once

#include <cstdint>
#include <optional>

#include <evalcore/base/result.hpp>

namespace evalcore::engine {

/// How requests are admitted and run.
struct options {
  std::uint32_t max_batch_size = 4;       ///< Requests that run at once, at least 1.
  std::uint32_t max_queue_size = 32;      ///< Requests and controls that wait, at least 1.
  std::uint32_t batch_wait_ms = 10;       ///< How long a batch that begins waits for company, 0 to 1,000.
  double queue_timeout_s = 120;           ///< How long a request may wait, above 0 and finite.
  std::uint32_t output_queue_size = 256;  ///< Records that a request holds for its reader, at least 1.
  /// Requests that sample run with others where the engine can do that (traits::per_row_sampling); else each
  /// of them runs alone.
  bool per_row_sampling = true;
  /// Rows in one tensor batch, at least 1; absent: all that run. Below max_batch_size where wider batches
  /// were found to change answers.
  std::optional<std::uint32_t> max_width;
};

/// Errors: invalid_argument with the option's name, its range and the value.
[[nodiscard]] result<void> check(const options& how);

}  // namespace evalcore::engine
