#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace evalcore::run {

/// One line of an EvalCompare.Row file: one metric of one task of one model.
struct row {
  bool baseline = false;
  std::optional<std::string> harness_version;
  std::string metric;
  std::string model_name;
  std::string model_path;
  std::optional<std::int64_t> model_step;
  std::uint64_t n_examples = 0;
  std::string run_id;  ///< Upper-case UUID.
  double score = 0;    ///< Finite.
  std::optional<std::string> subtask;
  std::string task;
  std::string timestamp;    ///< ISO-8601, UTC, whole seconds, "Z".
  double wall_seconds = 0;  ///< Finite.
};

/// The line as Foundation's JSONEncoder writes it: keys sorted, "/" as "\/", absent keys left out,
/// integral doubles without a fraction; ends in a newline. A number that is not finite has no JSON form:
/// std::invalid_argument.
[[nodiscard]] std::string to_line(const row& one);

}  // namespace evalcore::run
