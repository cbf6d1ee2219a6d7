#pragma once

#include <optional>
#include <string>

#include <evalcore/engine/parity.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Verdicts of check_parity() in a folder of the host's, a file each, so that a model is compared once on a
/// machine. One is found again for the same engine only: the files of the code that computes (loaded_code()),
/// all that traits::identity tells (the model's bytes, its runtime, what the processor can do, the threads),
/// and rows, context and grid. Of an engine whose identity tells nothing none is kept.
class kept_verdicts {
 public:
  /// Empty: nothing is kept and nothing found.
  explicit kept_verdicts(std::string folder) : folder_(std::move(folder)) {}

  /// Absent also where the file is damaged.
  [[nodiscard]] std::optional<parity_verdict> find(const traits& engine) const;
  /// Without a word where the folder cannot be written: the next load compares again.
  void keep(const traits& engine, const parity_verdict& found) const;

 private:
  [[nodiscard]] std::string file_of(const std::string& identity) const;

  std::string folder_;
};

}  // namespace evalcore::engine
